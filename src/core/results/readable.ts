/**
 * One content part of a tool result as parts that a model behind the editor can read (spec V1). Pure.
 *
 * The editor shows embedded texts as bare links, hands images of any type to models that take four of them, and drops
 * types it does not know. What cannot be shown becomes a line of text that says what was there; nothing is lost in
 * silence. A part that already is readable is returned as it came.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';

type Part = ContentBlock;
export type TextPart = Extract<Part, { type: 'text' }>;
type Carried = Pick<TextPart, 'annotations' | '_meta'>;
type Fields = Readonly<Record<string, unknown>>;

/** What models take (spec V2). The unofficial spelling is common. */
const imageTypes: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'image/jpeg'],
  ['image/jpg', 'image/jpeg'],
  ['image/png', 'image/png'],
  ['image/gif', 'image/gif'],
  ['image/webp', 'image/webp'],
]);

/** A part that nobody knows is quoted up to this many characters. */
const longestQuote = 4_000;

export function readableParts(content: CallToolResult['content'] | undefined): Part[] {
  // The declared type is a promise of servers, not a fact: entries may be anything.
  return Array.isArray(content) ? (content as readonly unknown[]).flatMap(readable) : [];
}

function readable(part: unknown): Part[] {
  if (!isObject(part)) return [unknownPart(part)];
  switch (part['type']) {
    case 'text':
      return typeof part['text'] === 'string' ? [part as unknown as Part] : [unknownPart(part)];
    case 'image':
      return image(part);
    case 'audio':
      return audio(part);
    case 'resource':
      return resource(part);
    case 'resource_link':
      return link(part);
    default:
      return [unknownPart(part)];
  }
}

function image(part: Fields): Part[] {
  const { data, mimeType } = part;
  if (typeof data !== 'string' || typeof mimeType !== 'string') return [unknownPart(part)];
  const known = imageTypes.get(bareType(mimeType));
  if (known === undefined) return [text(`[Image: ${mimeType}, ${sizeOf(data)}, a type that models do not take]`, part)];
  const bare = withoutDataPrefix(data);
  if (known === mimeType && bare === data) return [part as unknown as Part];
  return [{ ...part, type: 'image', data: bare, mimeType: known }];
}

function audio(part: Fields): Part[] {
  const { data, mimeType } = part;
  if (typeof data !== 'string' || typeof mimeType !== 'string') return [unknownPart(part)];
  return [text(`[Audio: ${mimeType}, ${sizeOf(data)}]`, part)];
}

function resource(part: Fields): Part[] {
  const inner = part['resource'];
  if (!isObject(inner) || typeof inner['uri'] !== 'string') return [unknownPart(part)];
  const mimeType = typeof inner['mimeType'] === 'string' ? inner['mimeType'] : undefined;
  const title = mimeType === undefined ? inner['uri'] : `${inner['uri']} (${mimeType})`;
  if (typeof inner['text'] === 'string') return [text(`Resource ${title}:\n${inner['text']}`, part)];
  const blob = inner['blob'];
  if (typeof blob !== 'string') return [unknownPart(part)];
  const known = mimeType === undefined ? undefined : imageTypes.get(bareType(mimeType));
  if (known === undefined) {
    return [text(`[Resource ${inner['uri']}: ${mimeType ?? 'binary data of unknown type'}, ${sizeOf(blob)}]`, part)];
  }
  return [
    text(`Resource ${title}:`, part),
    { type: 'image', data: withoutDataPrefix(blob), mimeType: known, ...carried(part) },
  ];
}

/**
 * The link stays, for a person to see, beside a line that a model can read. A link to an image does not stay: the
 * editor fetches it at once, and from a server that serves no resources it gets an image without data.
 */
function link(part: Fields): Part[] {
  const { uri, name, title, description, mimeType, size } = part;
  if (typeof uri !== 'string') return [unknownPart(part)];
  const label = typeof title === 'string' ? title : typeof name === 'string' ? name : undefined;
  const facts = [
    typeof mimeType === 'string' ? mimeType : undefined,
    typeof size === 'number' ? formatBytes(size) : undefined,
  ].filter((fact) => fact !== undefined);
  const line =
    `Resource link${label === undefined || label === uri ? '' : ` "${label}"`}: ${uri}` +
    (facts.length > 0 ? ` (${facts.join(', ')})` : '') +
    (typeof description === 'string' && description !== '' ? `\n${description}` : '');
  const isImage = typeof mimeType === 'string' && bareType(mimeType).startsWith('image/');
  return isImage ? [text(line, part)] : [part as unknown as Part, text(line, part)];
}

function unknownPart(part: unknown): TextPart {
  // What came over a wire always has a JSON form, except `undefined` in a hole of an array.
  const json = JSON.stringify(part) ?? 'null';
  const quote =
    json.length > longestQuote ? `${json.slice(0, longestQuote)}… (${json.length} characters in all)` : json;
  return text(`[Content of a type unknown here] ${quote}`, isObject(part) ? part : {});
}

function text(value: string, from: Fields): TextPart {
  return { type: 'text', text: value, ...carried(from) };
}

/** Annotations say who is meant to see a part; that holds for what replaces it. */
function carried(from: Fields): Carried {
  return {
    ...(isObject(from['annotations']) ? { annotations: from['annotations'] } : {}),
    ...(isObject(from['_meta']) ? { _meta: from['_meta'] } : {}),
  };
}

function bareType(mimeType: string): string {
  return (mimeType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Some servers put a data URL where base64 belongs (spec V2). */
function withoutDataPrefix(data: string): string {
  if (!data.startsWith('data:')) return data;
  const comma = data.indexOf(',');
  return comma < 0 ? data : data.slice(comma + 1);
}

function sizeOf(base64: string): string {
  const bare = withoutDataPrefix(base64);
  const padding = bare.endsWith('==') ? 2 : bare.endsWith('=') ? 1 : 0;
  return formatBytes(Math.max(0, Math.floor((bare.length * 3) / 4) - padding));
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
