/**
 * The limit of what an agent is sent as text (spec V3). Texts over it go to files whole; the agent gets the head, the
 * tail, the size and the path. As few texts as possible are shortened, the longest first; where that does not help,
 * because there are very many, all of them become one. What only the user sees is measured apart from what the model
 * sees, so that neither gets into the other.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import type { ArtifactContent, SaveOutcome } from './artifacts.js';
import type { Pieces } from './base64.js';
import { isText, isVisibleText, type TextPart } from './readable.js';
import { formatBytes } from './sizes.js';

export interface TextLimit {
  /** Of UTF-8. */
  readonly bytes: number;
  readonly save: (content: ArtifactContent) => Promise<SaveOutcome>;
}

/** Together below what the editor's own agent passes on; a longer text it writes to a file itself, for a model to read. */
const longestHead = 4 << 10;
const longestTail = 2 << 10;
/** Of one result; more than this many long texts become one. */
const mostFiles = 8;
/** For the line between head and tail. */
const lineBytes = 1 << 10;
/** Characters encoded at a time. */
const pieceLength = 1 << 20;
/** Longer texts are not parsed to see whether they are JSON: that would hold everything up. */
const longestParse = 4 << 20;

/** @param result composed: structured content is there only without text */
export async function withinLimit(result: CallToolResult, limit: TextLimit): Promise<CallToolResult> {
  const { structuredContent, ...rest } = result;
  if (structuredContent !== undefined) {
    const json = JSON.stringify(structuredContent);
    if (fits([json], limit.bytes)) return result;
    return { ...rest, content: [...rest.content, { type: 'text', text: await shortened(json, 'json', limit) }] };
  }
  const forModel = await shorten(rest.content, isVisibleText, limit);
  const content = await shorten(forModel, (part) => isText(part) && !isVisibleText(part), limit);
  return content === rest.content ? result : { ...rest, content };
}

export function fits(texts: readonly string[], bytes: number): boolean {
  // Three bytes at most are one code unit: mostly nothing needs to be counted.
  return texts.reduce((sum, text) => sum + text.length, 0) * 3 <= bytes || sizeOf(texts) <= bytes;
}

async function shorten(
  content: ContentBlock[],
  isMeant: (part: ContentBlock) => boolean,
  limit: TextLimit,
): Promise<ContentBlock[]> {
  const texts = content.filter((part): part is TextPart => isText(part) && isMeant(part));
  if (
    fits(
      texts.map(({ text }) => text),
      limit.bytes,
    )
  )
    return content;
  const long = longOnes(texts, limit.bytes);
  const [first] = texts;
  if (long === 'all' && first) {
    const whole = texts.map(({ text }) => text).join('\n');
    const one = { ...first, text: await shortened(whole, 'txt', limit) };
    return content.flatMap((part) => (part === first ? [one] : texts.includes(part as TextPart) ? [] : [part]));
  }
  const result: ContentBlock[] = [];
  for (const part of content) {
    const isLong = isText(part) && long !== 'all' && long.has(part);
    result.push(isLong ? { ...part, text: await shortened(part.text, extensionFor(part.text), limit) } : part);
  }
  return result;
}

/** The fewest texts whose shortening is enough, if a few are. */
function longOnes(texts: readonly TextPart[], limit: number): ReadonlySet<TextPart> | 'all' {
  const { head, tail } = excerptSizes(limit);
  const rest = head + tail + lineBytes;
  const sized = texts.map((part) => ({ part, bytes: Buffer.byteLength(part.text) })).sort((a, b) => b.bytes - a.bytes);
  let total = sized.reduce((sum, { bytes }) => sum + bytes, 0);
  const long = new Set<TextPart>();
  for (const { part, bytes } of sized.slice(0, mostFiles)) {
    if (total <= limit || bytes <= rest) break;
    long.add(part);
    total += rest - bytes;
  }
  // One text that is shortened is as short as it gets, however small the limit.
  return total <= limit || texts.length === 1 ? long : 'all';
}

async function shortened(text: string, extension: 'txt' | 'json', limit: TextLimit): Promise<string> {
  const bytes = Buffer.byteLength(text);
  const sizes = excerptSizes(limit.bytes);
  const head = headOf(text, sizes.head);
  const tail = tailOf(text, sizes.tail);
  const outcome = await limit.save({ extension, bytes, pieces: () => encoded(text) });
  const where = outcome.kind === 'saved' ? `All of it is in ${outcome.path}` : `It was not saved: ${outcome.why}`;
  const left = bytes - Buffer.byteLength(head) - Buffer.byteLength(tail);
  const line = `[${formatBytes(left)} of ${formatBytes(bytes)} are left out here, over the limit of ${formatBytes(limit.bytes)}. ${where}]`;
  return `${head}\n\n${line}\n\n${tail}`;
}

function excerptSizes(limit: number): { readonly head: number; readonly tail: number } {
  return { head: Math.min(longestHead, limit >> 1), tail: Math.min(longestTail, limit >> 2) };
}

/** At most so many bytes of UTF-8, no character cut. */
export function headOf(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text.slice(0, bytes), new Uint8Array(bytes));
  return text.slice(0, read);
}

export function tailOf(text: string, bytes: number): string {
  const from = Math.max(0, text.length - bytes);
  const isCut = from > 0 && isSecondHalf(text.charCodeAt(from));
  const end = Buffer.from(text.slice(isCut ? from + 1 : from));
  let start = Math.max(0, end.length - bytes);
  // A byte that goes on with a character is no beginning.
  while (((end[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return end.toString('utf8', start);
}

function* encoded(text: string): Pieces {
  for (let start = 0; start < text.length;) {
    let end = start + pieceLength;
    if (isSecondHalf(text.charCodeAt(end))) end += 1;
    yield Buffer.from(text.slice(start, end));
    start = end;
  }
  return undefined;
}

function isSecondHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** So that a file opens as what it is. */
function extensionFor(text: string): 'txt' | 'json' {
  if (!/^\s*(?:\{\s*["}]|\[\s*[[\]{"\d-])/.test(text.slice(0, 1_000)) || !/[}\]]\s*$/.test(text.slice(-1_000)))
    return 'txt';
  if (text.length > longestParse) return 'json';
  try {
    JSON.parse(text);
    return 'json';
  } catch {
    return 'txt';
  }
}
