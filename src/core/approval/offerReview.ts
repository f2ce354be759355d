/** The texts that a person reads before they accept changes since the approval (S3). Nothing is left out or hidden. */
import type { OfferChange } from './offerLedger.js';
import { changePhrase, type OfferText } from './offerPrints.js';
import { folded, halfWidth, pageWidth } from '../base/folded.js';
import { inert, oneLine, visible, type Inert } from '../base/inert.js';
import { shortList } from '../base/text.js';

/** The limit of text in one document, in UTF-16 code units. The editor shows this much without trouble. */
const mostShown = 4 * 1024 * 1024;
const mostEmptyLines = 3;

const head = [
  'The servers tell agents these texts.',
  'Invisible characters are escaped. A line',
  'with … continues the line before it. This',
  'review does not show what tools do.',
  '',
  '',
].join('\n');

export function firstReview(changes: readonly OfferChange[]): {
  readonly shown: readonly OfferChange[];
  readonly later: readonly OfferChange[];
} {
  let left = mostShown;
  const index = changes.findIndex((change) => (left -= sizeOf(change)) < 0);
  // A single offer of any length is shown, because a person could not accept it otherwise.
  const count = index < 0 ? changes.length : Math.max(1, index);
  return { shown: changes.slice(0, count), later: changes.slice(count) };
}

function sizeOf({ now, before }: OfferChange): number {
  const texts = typeof before === 'string' ? now : [...now, ...before];
  return texts.reduce((sum, [, text]) => sum + text.length, 0);
}

export function offerReview(
  changes: readonly OfferChange[],
  fileLabel: (file: string) => string,
): { readonly now: string; readonly before: string | undefined } {
  const isCompared = changes.some(({ before }) => typeof before !== 'string');
  const width = isCompared ? halfWidth : pageWidth;
  const document = (texts: (change: OfferChange) => OfferText | string): string =>
    head + changes.map((change) => section(change, texts(change), fileLabel(change.source), width)).join('\n');
  const earlier = ({ before }: OfferChange): OfferText | string => {
    if (before === 'new') return 'The server did not offer this.';
    return before === 'notKept' ? 'The earlier text is no longer known.' : before;
  };
  return { now: document(({ now }) => now), before: isCompared ? document(earlier) : undefined };
}

function section(
  { server, kind, original, parts }: OfferChange,
  texts: OfferText | string,
  file: string,
  width: number,
): string {
  const name = kind === 'instructions' ? kind : `${kind} ${original}`;
  const title = folded(oneLine(`${server}  ·  ${name}  ·  ${changePhrase(parts)}  ·  ${file}`), width);
  if (typeof texts === 'string') return [...title, '', `    ${texts}`, ''].join('\n');
  const all = texts.length > 0 ? texts : [['description', '(none)'] as const];
  const lines = all.flatMap(([label, text]) => [`  ${label}`, ...foldedLines(text, width), '']);
  return [...title, '', ...lines].join('\n');
}

function foldedLines(text: string, width: number): string[] {
  const lead = '    ';
  const lines: string[] = [];
  let empty = 0;
  const endEmpty = (): void => {
    if (empty > mostEmptyLines) lines.push(`${lead}\\u{a × ${empty}}`);
    else for (; empty > 0; empty--) lines.push(lead);
    empty = 0;
  };
  for (const line of visible(text).split('\n')) {
    if (line.trim() === '') {
      empty++;
      continue;
    }
    endEmpty();
    for (const piece of folded(line, width, lead)) lines.push(piece);
  }
  endEmpty();
  return lines;
}

export function offerQuestion(changes: readonly OfferChange[], isAgain: boolean): Inert {
  const names = changes.map(({ server, kind, original }) =>
    kind === 'instructions' ? `the instructions of “${server}”` : `“${original}” of “${server}”`,
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
  return kind === 'prompt'
    ? inert`${server} · prompt · ${changePhrase(parts)}`
    : inert`${server} · ${changePhrase(parts)}`;
}
