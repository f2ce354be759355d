/**
 * Fits a conversation into the model's limit (D1). The oldest tool results are shortened first. If this is not enough,
 * the oldest questions go with all their messages. The last question always stays whole.
 *
 * Invariants: the input is not changed. A call keeps its result. Each removal leaves a line about it.
 */
import type { ContentPart, ConversationMessage, ConversationModel, ModelRequest, ToolResult } from './model.js';

export interface Fitted {
  readonly messages: readonly ConversationMessage[];
  /** How many tool results are shortened. */
  readonly shortened: number;
  /** How many messages are left out. */
  readonly dropped: number;
}

/** Providers only estimate counts, so a part of the limit stays free. */
const usablePart = 0.92;
/** A shortened text keeps this many characters of its beginning and of its end. */
const head = 400;
const tail = 200;
/** Providers count roughly this for an image, whatever its size in bytes. */
const tokensOfImage = 1600;
/** Each message and each tool takes this many tokens besides its text. */
const overhead = 8;

export async function fitToModel(
  request: ModelRequest,
  model: ConversationModel,
  signal: AbortSignal,
): Promise<Fitted> {
  const { messages, instructions, tools } = request;
  const limit = Math.floor(model.maxInputTokens * usablePart);
  const whole: Fitted = { messages, shortened: 0, dropped: 0 };
  const fixed = [instructions, ...tools.map((tool) => JSON.stringify([tool.name, tool.description, tool.inputSchema]))];
  // Tokens are rarely shorter than a character, so a short text needs no count.
  const characters = sum(fixed.map(({ length }) => length)) + sum(messages.map(charactersOf));
  if (characters + overhead * (messages.length + tools.length) <= limit) return whole;

  const count = (text: string): Promise<number> => model.countTokens(text, signal);
  const room = limit - (await count(fixed.join('\n'))) - overhead * tools.length;
  const sizes = await Promise.all(messages.map((message) => tokensOf(message, count)));
  if (sum(sizes) <= room) return whole;
  return await squeezed(messages, sizes, room, count);
}

async function squeezed(
  messages: readonly ConversationMessage[],
  sizes: number[],
  room: number,
  count: (text: string) => Promise<number>,
): Promise<Fitted> {
  const fitted = [...messages];
  let over = sum(sizes) - room;
  let shortened = 0;
  for (const [index, message] of messages.entries()) {
    if (over <= 0) break;
    if (message.kind !== 'results') continue;
    const results = message.results.map(shortResult);
    const changed = results.filter((result, at) => result !== message.results[at]).length;
    if (changed === 0) continue;
    const short: ConversationMessage = { kind: 'results', results };
    const size = await tokensOf(short, count);
    over -= (sizes[index] ?? 0) - size;
    sizes[index] = size;
    fitted[index] = short;
    shortened += changed;
  }
  let dropped = 0;
  for (const next of turnStarts(messages)) {
    if (over <= 0) break;
    over -= sum(sizes.slice(dropped, next));
    dropped = next;
  }
  if (dropped === 0) return { messages: fitted, shortened, dropped };
  const note: ConversationMessage = {
    kind: 'user',
    text: `[${dropped} earlier messages of this conversation are left out here: they do not fit.]`,
  };
  const left = shortenedIn(messages, fitted, dropped);
  return { messages: [note, ...fitted.slice(dropped)], shortened: left, dropped };
}

/** Returns the beginnings of turns, without the first. Everything before such a place may be dropped together. */
function turnStarts(messages: readonly ConversationMessage[]): number[] {
  return messages.flatMap(({ kind }, index) => (kind === 'user' && index > 0 ? [index] : []));
}

function shortenedIn(
  before: readonly ConversationMessage[],
  after: readonly ConversationMessage[],
  from: number,
): number {
  return sum(
    before.map((message, index) => {
      const now = after[index];
      if (index < from || message.kind !== 'results' || now?.kind !== 'results') return 0;
      return message.results.filter((result, at) => result !== now.results[at]).length;
    }),
  );
}

/** Returns the same result if there is no gain. */
function shortResult(result: ToolResult): ToolResult {
  const parts = result.parts.map(shortPart);
  return parts.every((part, index) => part === result.parts[index]) ? result : { ...result, parts };
}

function shortPart(part: ContentPart): ContentPart {
  if (part.kind === 'image') return { kind: 'text', text: `[An image (${part.mimeType}) is left out here.]` };
  const text = shortenedText(part.text, head, tail);
  return text === part.text ? part : { kind: 'text', text };
}

/** Returns the beginning and the end of a long text, with a line about the missing part between them. */
export function shortenedText(text: string, first: number, last: number): string {
  const note = (left: number): string => `\n[… ${left} of ${text.length} characters are left out here …]\n`;
  if (text.length <= first + last + note(text.length).length) return text;
  const begin = text.slice(0, first).replace(/[\uD800-\uDBFF]$/, '');
  const end = text.slice(text.length - last).replace(/^[\uDC00-\uDFFF]/, '');
  return begin + note(text.length - begin.length - end.length) + end;
}

async function tokensOf(message: ConversationMessage, count: (text: string) => Promise<number>): Promise<number> {
  return (await count(textOf(message))) + overhead + tokensOfImage * imagesIn(message);
}

function charactersOf(message: ConversationMessage): number {
  return textOf(message).length + tokensOfImage * imagesIn(message);
}

function textOf(message: ConversationMessage): string {
  switch (message.kind) {
    case 'user':
      return message.text;
    case 'answer':
      return [message.text, ...message.calls.map((call) => `${call.tool} ${JSON.stringify(call.input)}`)].join('\n');
    case 'results':
      return message.results.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('\n');
  }
}

function imagesIn(message: ConversationMessage): number {
  if (message.kind !== 'results') return 0;
  return sum(message.results.map(({ parts }) => parts.filter(({ kind }) => kind === 'image').length));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
