/**
 * Fits a conversation into the model's limit (D1). The oldest tool results are shortened first,
 * then the oldest questions go with their messages. The last question stays whole, each call keeps
 * its result, and each removal leaves a line about it.
 */
import type {
  ContentPart,
  ConversationMessage,
  ConversationModel,
  ModelRequest,
  ToolResult,
} from './model.js';

export interface Fitted {
  readonly messages: readonly ConversationMessage[];
  readonly shortened: number;
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
  const whole: Fitted = {
    messages,
    shortened: 0,
    dropped: 0,
  };
  const fixed = [
    instructions,
    ...tools.map((tool) => JSON.stringify([tool.name, tool.description, tool.inputSchema])),
  ];
  // Tokens are rarely shorter than a character, so a short text needs no count.
  const characters = [...fixed, ...messages.map(textOf)].map(({ length }) => length);
  const images = tokensOfImage * sum(messages.map(imagesIn));
  if (sum(characters) + images + overhead * (messages.length + tools.length) <= limit) return whole;

  const count: Count = (text) => model.countTokens(text, signal);
  const room = limit - (await count(fixed.join('\n'))) - overhead * tools.length;
  const sizes = await Promise.all(messages.map((message) => tokensOf(message, count)));
  if (sum(sizes) <= room) return whole;
  return await squeezed(messages, sizes, room, count);
}

type Messages = readonly ConversationMessage[];
type Count = (text: string) => Promise<number>;

async function squeezed(
  messages: Messages,
  sizes: number[],
  room: number,
  count: Count,
): Promise<Fitted> {
  const fitted = [...messages];
  let over = sum(sizes) - room;
  for (const [index, message] of messages.entries()) {
    if (over <= 0) break;
    const short = shortenedMessage(
      message,
      head,
      tail,
      (type) => `[An image (${type}) is left out here.]`,
    );
    if (short === message) continue;
    const size = await tokensOf(short, count);
    over -= (sizes[index] ?? 0) - size;
    sizes[index] = size;
    fitted[index] = short;
  }
  // Everything before the beginning of a turn may be dropped together.
  const turnStarts = messages.flatMap(({ kind }, index) =>
    kind === 'user' && index > 0 ? [index] : [],
  );
  let dropped = 0;
  for (const next of turnStarts) {
    if (over <= 0) break;
    over -= sum(sizes.slice(dropped, next));
    dropped = next;
  }
  const left = fitted.slice(dropped);
  const before = messages.slice(dropped).flatMap(resultsOf);
  const shortened = left.flatMap(resultsOf).filter((result, at) => result !== before[at]).length;
  if (dropped === 0)
    return {
      messages: left,
      shortened,
      dropped,
    };
  const note = `[${dropped} earlier messages of this conversation are left out here: they do not fit.]`;
  return {
    messages: [{ kind: 'user', text: note }, ...left],
    shortened,
    dropped,
  };
}

/**
 * Shortens the results of a message and replaces their images. Without a gain, the message stays
 * the same object.
 */
export function shortenedMessage(
  message: ConversationMessage,
  first: number,
  last: number,
  ofImage: (mimeType: string) => string,
): ConversationMessage {
  const shortPart = (part: ContentPart): ContentPart => {
    const text =
      part.kind === 'image' ? ofImage(part.mimeType) : shortenedText(part.text, first, last);
    return part.kind === 'text' && text === part.text ? part : { kind: 'text', text };
  };
  const before = resultsOf(message);
  const results = before.map((result): ToolResult => {
    const parts = result.parts.map(shortPart);
    return parts.every((part, index) => part === result.parts[index])
      ? result
      : { ...result, parts };
  });
  return results.every((result, index) => result === before[index])
    ? message
    : { kind: 'results', results };
}

export function shortenedText(text: string, first: number, last: number): string {
  const note = (left: number): string =>
    `\n[… ${left} of ${text.length} characters are left out here …]\n`;
  if (text.length <= first + last + note(text.length).length) return text;
  const begin = text.slice(0, first).replace(/[\uD800-\uDBFF]$/, '');
  const end = text.slice(text.length - last).replace(/^[\uDC00-\uDFFF]/, '');
  return begin + note(text.length - begin.length - end.length) + end;
}

async function tokensOf(message: ConversationMessage, count: Count): Promise<number> {
  return (await count(textOf(message))) + overhead + tokensOfImage * imagesIn(message);
}

function textOf(message: ConversationMessage): string {
  switch (message.kind) {
    case 'user':
      return message.text;
    case 'answer':
      return [
        message.text,
        ...message.calls.map((call) => `${call.tool} ${JSON.stringify(call.input)}`),
      ].join('\n');
    case 'results':
      return message.results
        .flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')))
        .join('\n');
  }
}

function imagesIn(message: ConversationMessage): number {
  return resultsOf(message).flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'image'))
    .length;
}

export function resultsOf(message: ConversationMessage): readonly ToolResult[] {
  return message.kind === 'results' ? message.results : [];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
