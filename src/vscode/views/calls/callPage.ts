/** Writes a recorded call as a page of Markdown: what went in and out, its progress and the log of its server. Pure. */
import { fenced, formatted, markdownList, type Markdown } from '../../../core/base/inert.js';
import { isObject } from '../../../core/base/isObject.js';
import type { CallContent } from '../../../core/calls/contents.js';
import type { CallFact } from '../../../core/calls/fact.js';
import { conversationLabel } from '../../../core/protocol/conversationLabel.js';
import { agentPhrase } from '../phrases.js';

const longestText = 100_000;

/** Removes secrets from a text. Not for a whole page, because a mask could cover the end of a fence. */
type Redact = (text: string) => string;

/** @param content undefined if it is no longer kept, or another program made the call */
export function callPage(fact: CallFact, content: CallContent | undefined, redact: Redact): Markdown {
  const head = [formatted`# ${redact(fact.tool)}`, factLine(fact, redact)];
  return markdownList(
    content === undefined ? [...head, notKept] : [...head, ...sectionsOf(fact, content, redact)],
    '\n\n',
  );
}

const notKept = formatted`Its input and output are not kept here. Only the program that made the call keeps them, in memory, for the last 50 MiB of calls.`;

function sectionsOf(fact: CallFact, content: CallContent, redact: Redact): Markdown[] {
  const block = (text: string, language?: string): Markdown => fenced(short(redact(text), text.length), language);
  const json = (value: unknown): Markdown => block(JSON.stringify(value ?? {}, undefined, 2), 'json');
  const shown = (result: unknown): Markdown => markdownList(partsOf(result, redact, block), '\n\n');
  const { given, sent, outcome, received, progress, log } = content;
  const section = (title: Markdown, body: Markdown, isShown = true): Markdown[] => (isShown ? [title, body] : []);
  const isChanged = received !== undefined && !isSame(received, outcome);
  const lines = progress.map(({ progress: done, total, message }) =>
    [`${done}${total === undefined ? '' : ` of ${total}`}`, message ?? ''].join(' ').trim(),
  );
  return [
    ...section(formatted`## Input`, json(given)),
    ...section(formatted`## Input as the server got it`, json(sent), sent !== undefined && !isSame(sent, given)),
    ...section(
      fact.outcome === 'ok' ? formatted`## Output` : formatted`## Output (${fact.outcome})`,
      shown(isChanged ? received : outcome),
    ),
    ...section(formatted`## Output as the server gave it`, shown(outcome), isChanged),
    ...section(formatted`## Progress`, block(lines.join('\n')), lines.length > 0),
    ...section(formatted`## Log of the server during the call`, block(log.join('\n')), log.length > 0),
  ];
}

function factLine(
  { at, agent, conversation, toolset, original, tool, took, instance, tokens, reason }: CallFact,
  redact: Redact,
): Markdown {
  const facts = [
    original === tool ? toolset : `${original} of ${toolset}`,
    agentPhrase(agent),
    conversationLabel(conversation),
    `${took} ms`,
    `about ${tokens} tokens`,
    new Date(at).toLocaleString(),
    ...(instance === undefined ? [] : [`instance ${instance}`]),
    ...(reason === undefined ? [] : [reason]),
  ];
  return formatted`${redact(facts.join(' · '))}`;
}

type Block = (text: string, language?: string) => Markdown;

/** @param outcome a result, or an outcome without one */
function partsOf(outcome: unknown, redact: Redact, block: Block): Markdown[] {
  if (!isObject(outcome)) return [formatted`Nothing.`];
  const { content, structuredContent } = outcome;
  if (!Array.isArray(content)) return [block(JSON.stringify(outcome, undefined, 2), 'json')];
  const parts = content.map((part: unknown): Markdown => {
    const { type, text, mimeType, data } = isObject(part) ? part : {};
    if (typeof text === 'string') return block(pretty(text));
    if (typeof data !== 'string') return block(JSON.stringify(part, undefined, 2), 'json');
    const kind = type === 'audio' ? 'A recording' : 'An image';
    return formatted`${kind}, ${redact(typeof mimeType === 'string' ? mimeType : 'of no type')}.`;
  });
  if (structuredContent !== undefined) parts.push(block(JSON.stringify(structuredContent, undefined, 2), 'json'));
  return parts.length > 0 ? parts : [formatted`Nothing.`];
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function pretty(text: string): string {
  if (!/^\s*[{[]/.test(text) || text.length > longestText) return text;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function short(text: string, inAll: number): string {
  return text.length > longestText ? `${text.slice(0, longestText)}\n… (${inAll} characters in all)` : text;
}
