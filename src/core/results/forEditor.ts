/**
 * VS Code 1.139 (V1) drops text beside structure, shows models only text of errors, and throws
 * without `content`.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { isDeepStrictEqual } from 'node:util';
import {
  bareType,
  canonical,
  binaryOf,
  decodedSize,
  shown,
  type Binary,
  type BinaryOutcome,
  type SavedParts,
} from './binaries.js';
import { formatBytes } from './artifacts.js';
import { asFields, asList, isObject, type Fields } from '../base/isObject.js';
import { inPieces, type Sliced } from '../base/turns.js';
import { unlessThrown } from '../base/unlessThrown.js';
import { jsonInSlices } from '../base/jsonInSlices.js';

const errorMark = 'Error:';
/** Longer texts are compared and not parsed, because parsing would hold everything up. */
const longestParse = 1 << 18;

/** True in the common case, which needs no copy. */
export function isPlainText(result: CallToolResult): boolean {
  return (
    Array.isArray(result.content) &&
    result.structuredContent === undefined &&
    result.isError !== true &&
    result.content.every((part) => part?.type === 'text' && typeof part.text === 'string')
  );
}

/**
 * Every part gets a type that the editor shows. @param fits true for JSON within the limit of text
 */
export function* composed(
  result: CallToolResult,
  saved: SavedParts,
  fits: (json: string) => boolean,
): Sliced<CallToolResult> {
  const { structuredContent, ...rest } = result as CallToolResult & { structuredContent?: unknown };
  // Servers promise the declared type and may send anything.
  const given: readonly unknown[] = asList(rest.content);
  const content: ContentBlock[] = [];
  for (const part of given) {
    for (const block of yield* readable(part, saved)) content.push(block);
    yield;
  }
  if (structuredContent === undefined || structuredContent === null) return { ...rest, content };
  const json = yield* jsonInSlices(structuredContent);
  // Structured content displaces text, so it stays structured only if no text is beside it.
  if (rest.isError !== true && !content.some(isText) && fits(json)) {
    return {
      ...rest,
      content,
      structuredContent: structuredContent as Record<string, unknown>,
    };
  }
  const isSaid = yield* anySays(content.filter(isVisibleText), structuredContent, json);
  return { ...rest, content: isSaid ? content : [...content, { type: 'text', text: json }] };
}

/**
 * The first text of an error for the model begins with a marker. An error without text gets one.
 */
export function marked(result: CallToolResult): CallToolResult {
  if (result.isError !== true) return result;
  const { content } = result;
  const first = content.findIndex(isVisibleText);
  const part = content[first];
  const text = part?.type === 'text' ? part.text : 'the tool failed and said nothing about it.';
  if (text.startsWith(errorMark)) return result;
  const said = {
    ...part,
    type: 'text' as const,
    text: `${errorMark} ${text}`,
  };
  return {
    ...result,
    content: part ? content.with(first, said) : [said, ...content],
  };
}

/**
 * True if a text is the JSON of a value, in any layout. A long text also needs the same order of
 * keys.
 */
function* anySays(parts: readonly TextPart[], value: unknown, json: string): Sliced<boolean> {
  const wrapped = typeof value === 'object' && value !== null ? Object.values(value) : [];
  let bareJson: string | undefined;
  for (const { text } of parts) {
    yield;
    // The value of many servers only wraps the text.
    if (wrapped.length === 1 && wrapped[0] === text) return true;
    if (!/^\s*[{[]/.test(text)) continue;
    if (text.length <= longestParse) {
      if (isJsonOf(text, value)) return true;
      continue;
    }
    bareJson ??= yield* withoutBlanks(json);
    if ((yield* withoutBlanks(text)) === bareJson) return true;
  }
  return false;
}

function isJsonOf(text: string, value: unknown): boolean {
  // A text that is not JSON has other content.
  return unlessThrown(() => isDeepStrictEqual(JSON.parse(text), value)) ?? false;
}

function* withoutBlanks(text: string): Sliced<string> {
  return (yield* inPieces(text, (piece) => piece.replace(/\s+/g, ''))).join('');
}

export type TextPart = Extract<ContentBlock, { type: 'text' }>;
type Carried = Pick<TextPart, 'annotations' | '_meta'>;

const longestQuote = 4_000;

export function isText(part: ContentBlock): part is TextPart {
  return part.type === 'text';
}

/** True if the model sees a part. The editor hides text for the user from it. */
export function isVisibleText(part: ContentBlock): part is TextPart {
  const audience = isText(part) ? part.annotations?.audience : undefined;
  return (
    isText(part) &&
    (!Array.isArray(audience) || audience.length === 0 || audience.includes('assistant'))
  );
}

function* readable(part: unknown, saved: SavedParts): Sliced<ContentBlock[]> {
  if (!isObject(part)) return [unknownPart(part)];
  const { type } = part;
  if (type === 'text' && typeof part['text'] === 'string') return [part as unknown as ContentBlock];
  if (type === 'image' || type === 'audio')
    return (yield* bytes(part, saved)) ?? [unknownPart(part)];
  if (type === 'resource') return yield* resource(part, saved);
  return type === 'resource_link' ? link(part) : [unknownPart(part)];
}

/**
 * An image that models take stays behind a line with its file. Any other part becomes only a line.
 */
function* bytes(part: Fields, saved: SavedParts): Sliced<ContentBlock[] | undefined> {
  const found = binaryOf(part);
  const outcome = saved.get(part);
  if (!found || !outcome) return undefined;
  const { kind, imageType, base64 } = found;
  const isRefused = kind === 'image' && imageType === undefined;
  const line = text(
    lineOf(found, isRefused ? ', a type that models do not accept' : '', outcome),
    part,
  );
  const isForModels = imageType !== undefined && outcome.kind !== 'unreadable';
  return isForModels ? [line, imageOf(part, imageType, yield* canonical(base64))] : [line];
}

function imageOf(part: Fields, mimeType: string, data: string): ContentBlock {
  if (part['type'] !== 'image')
    return {
      type: 'image',
      data,
      mimeType,
      ...carried(part),
    };
  if (part['data'] === data && part['mimeType'] === mimeType)
    return part as unknown as ContentBlock;
  return {
    ...part,
    type: 'image',
    data,
    mimeType,
  };
}

function lineOf(
  { kind, uri, type, imageType, base64 }: Binary,
  why: string,
  outcome: BinaryOutcome,
): string {
  const name = {
    image: 'Image',
    audio: 'Audio',
    resource: `Resource ${uri}`,
  }[kind];
  const unknown = kind === 'resource' ? 'binary data of unknown type' : 'unknown type';
  const what = `${name}: ${imageType ?? (type === undefined ? unknown : shown(type))}`;
  if (outcome.kind === 'unreadable') return `[${what}. It cannot be read: ${outcome.why}]`;
  const size = formatBytes(outcome.kind === 'saved' ? outcome.bytes : decodedSize(base64));
  return `[${what}, ${size}${why}. ${outcome.kind === 'saved' ? `Saved as ${outcome.path}` : `Not saved: ${outcome.why}`}]`;
}

function* resource(part: Fields, saved: SavedParts): Sliced<ContentBlock[]> {
  const saidOfBytes = yield* bytes(part, saved);
  if (saidOfBytes) return saidOfBytes;
  const inner = part['resource'];
  if (!isObject(inner) || typeof inner['uri'] !== 'string' || typeof inner['text'] !== 'string') {
    return [unknownPart(part)];
  }
  const type = typeof inner['mimeType'] === 'string' ? ` (${shown(inner['mimeType'])})` : '';
  return [text(`Resource ${inner['uri']}${type}:\n${inner['text']}`, part)];
}

/**
 * The line is for the model. A link to an image goes, because the editor would fetch it and may get
 * nothing.
 */
function link(part: Fields): ContentBlock[] {
  const { uri, name, title, description, mimeType, size } = part;
  if (typeof uri !== 'string') return [unknownPart(part)];
  const label = [title, name].find((each) => typeof each === 'string') ?? uri;
  const type = typeof mimeType === 'string' ? mimeType : '';
  const facts = [shown(type), typeof size === 'number' ? formatBytes(size) : ''].filter(
    (fact) => fact !== '',
  );
  const line =
    `Resource link${label === uri ? '' : ` "${label}"`}: ${uri}` +
    (facts.length > 0 ? ` (${facts.join(', ')})` : '') +
    (typeof description === 'string' && description !== '' ? `\n${description}` : '');
  return bareType(type).startsWith('image/')
    ? [text(line, part)]
    : [part as unknown as ContentBlock, text(line, part)];
}

function unknownPart(part: unknown): TextPart {
  // Every value from the wire has a JSON form, except `undefined` in a hole of an array.
  const json = JSON.stringify(part) ?? 'null';
  const quote =
    json.length > longestQuote
      ? `${json.slice(0, longestQuote).toWellFormed()}… (${json.length} characters in all)`
      : json;
  return text(`[Content of an unknown type] ${quote}`, asFields(part));
}

function text(value: string, from: Fields): TextPart {
  return {
    type: 'text',
    text: value,
    ...carried(from),
  };
}

/** Annotations name the reader of a part. They hold for its replacement too. */
function carried({ annotations, _meta }: Fields): Carried {
  return { ...(isObject(annotations) && { annotations }), ...(isObject(_meta) && { _meta }) };
}

/**
 * Lines of the host never displace the result (L3). @param hidesText true if structure hides text
 * beside it
 */
export function withNotes(
  result: CallToolResult,
  notes: readonly string[],
  hidesText: boolean,
): CallToolResult {
  if (notes.length === 0) return result;
  const added = notes.map((text) => ({ type: 'text' as const, text }));
  const { structuredContent, ...rest } = result;
  const content = Array.isArray(result.content) ? result.content : [];
  if (structuredContent === undefined) return { ...rest, content: [...content, ...added] };
  if (!hidesText) return { ...result, content: [...content, ...added] };
  const structure = { type: 'text' as const, text: JSON.stringify(structuredContent) };
  return {
    ...rest,
    content: [...content, structure, ...added],
  };
}
