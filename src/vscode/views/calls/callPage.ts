/**
 * Writes a recorded call as a page of Markdown: its input and output, its progress and the log of
 * its server. Pure.
 */
import { said, translated } from '../../../core/base/language.js';
import { sameJson } from '../../../core/base/canonicalJson.js';
import { fenced, formatted, markdownList, type Markdown } from '../../../core/base/inert.js';
import { asFields, isObject } from '../../../core/base/isObject.js';
import { laidOut } from '../../../core/base/text.js';
import type { CallContent } from '../../../core/calls/contents.js';
import type { CallFact } from '../../../core/calls/fact.js';
import { conversationLabel } from '../../../core/protocol/conversationLabel.js';
import { agentPhrase, beginning, present } from '../phrases.js';
import { notKept } from './callRows.js';

const longestText = 100_000;

/**
 * @param redact removes secrets from a text; not for the whole page, because a mask could cover the
 * end of a fence
 */
export function callPage(
  fact: CallFact,
  content: CallContent | undefined,
  redact: (text: string) => string,
): Markdown {
  const block = (text: string, language?: string): Markdown =>
    fenced(beginning(redact(text), longestText, text.length), language);
  const json = (value: unknown): Markdown =>
    block(JSON.stringify(value ?? {}, undefined, 2), 'json');
  const partOf = (part: unknown): Markdown => {
    const { type, text, mimeType, data } = asFields(part);
    if (typeof text === 'string') return block(laidOut(text, longestText));
    if (typeof data !== 'string') return json(part);
    const kind = type === 'audio' ? said`A recording` : said`An image`;
    return typeof mimeType === 'string'
      ? formatted`${kind}, ${redact(mimeType)}.`
      : formatted`${kind} of no type.`;
  };
  const shown = (outcome: unknown): Markdown => {
    if (!isObject(outcome)) return formatted`Nothing.`;
    const { content: parts, structuredContent } = outcome;
    if (!Array.isArray(parts)) return json(outcome);
    const all = present([
      ...parts.map(partOf),
      structuredContent !== undefined && json(structuredContent),
    ]);
    return all.length > 0 ? markdownList(all, '\n\n') : formatted`Nothing.`;
  };
  const head = [formatted`# ${redact(fact.tool)}`, formatted`${redact(factLine(fact))}`];
  if (!content) return markdownList([...head, notKept()], '\n\n');
  const { given, sent, outcome, received, progress, log } = content;
  const isChanged = received !== undefined && !sameJson(received, outcome);
  const lines = progress.map(({ progress: done, total, message = '' }) =>
    `${total === undefined ? done : `${done}/${total}`} ${message}`.trim(),
  );
  const sections = [
    formatted`## Input\n\n${json(given)}`,
    sent !== undefined &&
      !sameJson(sent, given) &&
      formatted`## Input as the server got it\n\n${json(sent)}`,
    markdownList([outputTitle(fact), shown(isChanged ? received : outcome)], '\n\n'),
    isChanged && formatted`## Output as the server gave it\n\n${shown(outcome)}`,
    lines.length > 0 && formatted`## Progress\n\n${block(lines.join('\n'))}`,
    log.length > 0 && formatted`## Log of the server during the call\n\n${block(log.join('\n'))}`,
  ];
  return markdownList([...head, ...present(sections)], '\n\n');
}

function outputTitle({ outcome }: CallFact): Markdown {
  return outcome === 'ok' ? formatted`## Output` : formatted`## Output (${translated(outcome)})`;
}

function factLine(fact: CallFact): string {
  const { at, agent, conversation, toolset, original, tool, took, instance, tokens, reason } = fact;
  const facts = [
    original === tool ? toolset : said`${original} of ${toolset}`,
    agentPhrase(agent),
    translated(conversationLabel(conversation)),
    said`${took} ms`,
    said`about ${tokens} tokens`,
    new Date(at).toLocaleString(),
    instance !== undefined && said`instance ${instance}`,
    reason,
  ];
  return present(facts).join(' · ');
}
