/**
 * The texts for a person before they accept changes since the approval (S3). They leave out and
 * hide nothing.
 */
import { english, said, translated } from '../base/language.js';
import { reviewOf, type Review } from './approvalTexts.js';
import type { OfferChange } from './offerLedger.js';
import { changePhrase } from './changePhrase.js';
import { reviewedTool } from './offerPrints.js';
import { folded } from '../base/folded.js';
import { inert, oneLine, visible, type Inert } from '../base/inert.js';
import { shortList } from '../base/text.js';
import type { Toolset } from '../tools/catalogue.js';
import { estimatedTokens, offeredTokens } from '../tools/tokens.js';

const head = english`The servers tell agents these texts.
Invisible characters are escaped. A line
with … continues the line before it. This
review does not show what tools do.

`;

export function offerReview(
  changes: readonly OfferChange[],
  fileLabel: (file: string) => string,
): Review {
  const isCompared = changes.some(({ before }) => before !== 'new');
  return reviewOf(
    translated(head),
    changes,
    isCompared,
    ({ server, source, kind, original, parts, isOfFile, now, before }, isNow, width) => {
      const name = kind === 'instructions' ? kind : `${kind} ${original}`;
      const what = isOfFile
        ? said`The file now overrides \`${original}\``
        : `${name}  ·  ${translated(changePhrase(parts))}`;
      const title = oneLine(`${server}  ·  ${what}  ·  ${fileLabel(source)}`);
      return [...folded(title, width), '', ...textLines(isNow ? now : before, width)];
    },
  );
}

/** The tools as agents read them, and as their servers list them. */
export function whatAgentsRead(toolsets: readonly Pick<Toolset, 'id' | 'tools'>[]): Review {
  return reviewOf('', toolsets, true, ({ id, tools }, isNow, width) => [
    oneLine(id),
    '',
    ...tools.flatMap((one) => {
      const tool = isNow ? one.tool : (one.override?.offered ?? one.tool);
      const tokens = isNow ? estimatedTokens(one) : offeredTokens(one);
      const title = oneLine(`${isNow ? one.published : one.original}  ·  ~${tokens} tokens`);
      return [...folded(title, width), '', ...textLines(reviewedTool(tool).text(), width)];
    }),
  ]);
}

function textLines(texts: OfferChange['before'], width: number): string[] {
  if (texts === 'new') return [`    ${said`The server did not offer this.`}`, ''];
  if (texts === 'notKept') return [`    ${said`The earlier text is no longer known.`}`, ''];
  const all = texts.length > 0 ? texts : [['description', '(none)'] as const];
  return all.flatMap(([label, text]) => [
    `  ${translated(label)}`,
    ...foldedLines(text, width),
    '',
  ]);
}

function foldedLines(text: string, width: number): string[] {
  const lead = '    ';
  const lines = visible(text)
    .split('\n')
    .map((line) => (line.trim() === '' ? '' : line));
  // Many empty lines would push the next one out of sight.
  const short = lines.join('\n').replace(/\n{4,}/g, (run) => `\n\\u{a × ${run.length - 1}}\n`);
  return short.split('\n').flatMap((line) => folded(line, width, lead));
}

export function offerQuestion(changes: readonly OfferChange[], isAgain: boolean): Inert {
  const names = changes.map(({ server, kind, original }) =>
    kind === 'instructions'
      ? said`the instructions of “${server}”`
      : said`“${original}” of “${server}”`,
  );
  const listed = shortList(names, 5);
  return isAgain
    ? inert`This changed while you read. Accept it as shown now: ${listed}?`
    : inert`Accept as shown: ${listed}?`;
}

export function changeLabel({ kind, original }: OfferChange): Inert {
  return kind === 'instructions' ? inert`Instructions` : inert`${original}`;
}

export function changeDescription({ server, kind, parts }: OfferChange): Inert {
  return kind === 'tool' || kind === 'instructions'
    ? inert`${server} · ${translated(changePhrase(parts))}`
    : inert`${server} · ${translated(kind)} · ${translated(changePhrase(parts))}`;
}
