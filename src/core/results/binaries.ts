/**
 * Finds the parts of a result with bytes (V2), saves them, and knows media types. The result stays
 * the same.
 */
import { asList, isObject, without, type Fields } from '../base/isObject.js';
import type { ArtifactOrigin, ArtifactStore, SaveOutcome } from './artifacts.js';
import { asText, clipped } from '../base/text.js';
import { inPieces, inTurns, pieceLength, type LoopShare, type Sliced } from '../base/turns.js';

export interface Binary {
  readonly kind: 'image' | 'audio' | 'resource';
  readonly uri: string | undefined;
  /** The declared type, or the type in a data URL. */
  readonly type: string | undefined;
  readonly imageType: string | undefined;
  readonly base64: string;
}

/** `why` is a clause: "its data is not base64". */
export type BinaryOutcome = SaveOutcome | { readonly kind: 'unreadable'; readonly why: string };

/** The outcomes by the identity of each part. */
export type SavedParts = ReadonlyMap<unknown, BinaryOutcome>;

export function binaryOf(part: unknown): Binary | undefined {
  if (!isObject(part)) return undefined;
  const { type, resource } = part;
  if (type === 'image' || type === 'audio') {
    return binary(type, undefined, part['mimeType'], part['data']);
  }
  if (type !== 'resource' || !isObject(resource) || typeof resource['uri'] !== 'string') {
    return undefined;
  }
  // An agent reads the text if there are both text and bytes.
  if (typeof resource['text'] === 'string') return undefined;
  return binary('resource', resource['uri'], resource['mimeType'], resource['blob']);
}

function binary(
  kind: Binary['kind'],
  uri: string | undefined,
  said: unknown,
  content: unknown,
): Binary | undefined {
  if (typeof content !== 'string') return undefined;
  const { base64, type: typeOfUrl } = splitDataUrl(content);
  const type = typeof said === 'string' && said.trim() !== '' ? said : typeOfUrl;
  const imageType = kind === 'audio' ? undefined : modelImageType(type, base64);
  return {
    kind,
    uri,
    type,
    imageType,
    base64,
  };
}

/** The limit of files for one result (V2), because even a small file takes a block of the disk. */
export const mostFiles = 32;
export const tooManyFiles = `one answer leaves at most ${mostFiles} files`;

/**
 * @param most the limit of saved parts; the others get a note @param share pays for the decoding
 */
export async function saveBinaries(
  content: unknown,
  origin: ArtifactOrigin,
  store: ArtifactStore,
  most = mostFiles,
  share?: LoopShare,
): Promise<SavedParts> {
  const saved = new Map<unknown, BinaryOutcome>();
  let left = most;
  const over: unknown[] = [];
  for (const part of asList(content)) {
    const found = binaryOf(part);
    const outcome = found && left > 0 ? await save(found, origin, store, share) : undefined;
    if (outcome) {
      saved.set(part, outcome);
    } else if (found) {
      over.push(part);
    }
    if (outcome?.kind === 'saved') left -= 1;
  }
  const why = `${tooManyFiles}, and ${over.length} more of its parts have bytes`;
  for (const part of over) {
    saved.set(part, { kind: 'notSaved', why });
  }
  return saved;
}

async function save(
  found: Binary,
  origin: ArtifactOrigin,
  store: ArtifactStore,
  share: LoopShare | undefined,
): Promise<BinaryOutcome> {
  if (found.base64.trim() === '' && found.kind !== 'resource') {
    return { kind: 'unreadable', why: 'it has no data' };
  }
  const bytes = await inTurns(decoded(found.base64), share);
  if (typeof bytes === 'string') {
    return { kind: 'unreadable', why: bytes };
  }
  return store.save(origin, {
    extension: extensionOf(found.imageType ?? found.type),
    pieces: [bytes],
  });
}

/** Returns the bytes, or the reason for their absence. @param text without a `data:` prefix */
export function* decoded(text: string): Sliced<Buffer | string> {
  const bytes = Buffer.allocUnsafe(Math.ceil((text.length * 3) / 4));
  let length = 0;
  let isBase64 = true;
  let isOver = false;
  let rest = '';
  yield* inPieces(text, (piece) => {
    const read = withoutSpace(piece);
    isBase64 &&= (isOver ? /^=*$/ : /^[\w+/-]*=*$/).test(read);
    isOver ||= read.endsWith('=');
    const characters = rest + read.replaceAll('=', '');
    const whole = characters.length - (characters.length % 4);
    rest = characters.slice(whole);
    length += bytes.write(characters.slice(0, whole), length, 'base64');
  });
  if (!isBase64) return 'its data is not base64';
  if (rest.length === 1) return 'its data was cut off';
  length += bytes.write(rest, length, 'base64');
  return bytes.subarray(0, length);
}

/** In bytes, so that each piece but the last is written without padding. */
const encodedLength = 3 * pieceLength;

/** Returns the spelling that every reader takes. A text that is not base64 stays the same. */
export function* canonical(text: string): Sliced<string> {
  const read = yield* spelled(text);
  return typeof read === 'string' ? text : read.base64;
}

/** Returns the spelling that every reader takes, or the reason why there are no bytes. */
function* spelled(text: string): Sliced<{ readonly base64: string } | string> {
  const end = text.length - paddingOf(text);
  const odd = yield* inPieces(text.slice(0, end), (piece) => /[^A-Za-z0-9+/]/.test(piece));
  if (text.length % 4 === 0 && !odd.includes(true)) {
    return { base64: text };
  }
  const bytes = yield* decoded(text);
  return typeof bytes === 'string' ? bytes : { base64: yield* encoded(bytes) };
}

function* encoded(bytes: Buffer): Sliced<string> {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += encodedLength) {
    pieces.push(bytes.toString('base64', at, at + encodedLength));
    yield;
  }
  return pieces.join('');
}

/** Returns the number of decoded bytes, and a few more if the text is in lines. */
export function decodedSize(text: string): number {
  const size = Math.floor((text.length * 3) / 4);
  return Math.max(0, size - paddingOf(text));
}

function paddingOf(base64: string): number {
  if (base64.endsWith('==')) return 2;
  return base64.endsWith('=') ? 1 : 0;
}

/** Some servers put the prefix of a data URL before base64. */
export function splitDataUrl(text: string): {
  readonly base64: string;
  readonly type: string | undefined;
} {
  const prefix = /^data:([^,]{0,200}),/i.exec(text.slice(0, 210));
  if (!prefix) {
    return { base64: text, type: undefined };
  }
  const type = (prefix[1] ?? '').replace(/;\s*base64\s*$/i, '').trim();
  const base64 = text.slice(prefix[0].length);
  return { base64, type: type === '' ? undefined : type };
}

function withoutSpace(text: string): string {
  return /\s/.test(text) ? text.replace(/\s+/g, '') : text;
}

/**
 * Gives all bytes a form that clients can decode (V1c), because other bytes cost the whole result.
 * Repairs `data:` URLs in their places (V1). A right result is the same object.
 */
export function withReadableBytes<Result extends object>(result: Result): Sliced<Result> {
  return repaired(result) as Sliced<Result>;
}

/** The fields with parts: of a result, of a message and of an embedded resource. */
const fieldsWithParts = ['content', 'contents', 'messages', 'resource'];

type BytesKey = 'data' | 'blob';

/** Returns the value itself if nothing changes. */
function* repaired(value: unknown): Sliced<unknown> {
  if (Array.isArray(value)) {
    const next: unknown[] = [];
    for (const item of value as unknown[]) {
      next.push(yield* repaired(item));
      yield;
    }
    return next.some((item, index) => item !== value[index]) ? next : value;
  }
  if (!isObject(value)) return value;
  const isMedia = value['type'] === 'image' || value['type'] === 'audio';
  let whole = yield* readable(value, isMedia ? 'data' : 'blob');
  for (const field of fieldsWithParts) {
    const inner = value[field];
    if (typeof inner !== 'object') continue;
    const next = yield* repaired(inner);
    if (next !== inner) {
      whole = { ...whole, [field]: next };
    }
  }
  return whole;
}

/** Returns a part with the type of its bytes, or a text in its place that says what is wrong. */
function* readable(given: Fields, key: BytesKey): Sliced<Fields> {
  const part = yield* plain(given, key);
  const { [key]: written, mimeType } = part;
  if (typeof written !== 'string') return part;
  const declared = typeof mimeType === 'string' ? bareType(mimeType) : '';
  const isImage = part['type'] === 'image' || (key === 'blob' && declared.startsWith('image/'));
  const type = isImage ? typeOfImage(declared, written) : mimeType;
  const read = yield* spelled(written);
  const isEmpty = written.trim() === '' && (isImage || key === 'data');
  if (isEmpty) return unreadable(part, key, 'it has no data');
  if (typeof read === 'string') {
    return unreadable(part, key, read);
  }
  if (isImage && type === undefined) {
    return unreadable(part, key, 'its bytes are no image of a known type');
  }
  const isRight = read.base64 === written && type === mimeType;
  return isRight ? part : { ...part, [key]: read.base64, mimeType: type };
}

function unreadable(part: Fields, key: BytesKey, why: string): Fields {
  const { mimeType, uri, type } = part;
  const media = type === 'image' ? 'Image' : 'Audio';
  const name = key === 'blob' ? `Resource ${asText(uri)}` : media;
  const declared = shown(asText(mimeType ?? '')) || 'unknown type';
  const text = `[${name}: ${declared}. It cannot be read: ${why}]`;
  const rest = without(part, key, 'mimeType');
  if (key === 'blob') return { ...rest, text };
  return {
    ...rest,
    type: 'text',
    text,
  };
}

function* plain(value: Fields, key: BytesKey): Sliced<Fields> {
  const written = value[key];
  if (typeof written !== 'string' || !/^data:/i.test(written)) return value;
  const { base64, type } = splitDataUrl(written);
  if (base64 === written) return value;
  const { mimeType } = value;
  const isDeclared = typeof mimeType === 'string' && mimeType.trim() !== '';
  const repaired = yield* base64Of(written, base64);
  return {
    ...value,
    [key]: repaired,
    ...(!isDeclared && type !== undefined && { mimeType: type }),
  };
}

/** A data URL without `;base64` holds percent-encoded text, unless its writer forgot the marker. */
function* base64Of(url: string, content: string): Sliced<string> {
  const isMarked = /;\s*base64\s*$/i.test(url.slice(0, url.length - content.length - 1));
  if (isMarked || /^[\w+/=\s-]*$/.test(content)) return content;
  const pieces: Buffer[] = [];
  let rest = '';
  try {
    yield* inPieces(content, (piece) => {
      const text = rest + piece;
      const end = text.length - unfinished(text);
      rest = text.slice(end);
      pieces.push(Buffer.from(decodeURIComponent(text.slice(0, end))));
    });
    pieces.push(Buffer.from(decodeURIComponent(rest)));
  } catch {
    return content;
  }
  return yield* encoded(Buffer.concat(pieces));
}

/**
 * Returns the length of the end of a text with the percent-encoded bytes of a character, which may
 * be cut off.
 */
function unfinished(text: string): number {
  // A character has at most four bytes, and three of them begin with 8 to b.
  const [last = ''] = /%(?![89ab])[^%]*(?:%[89ab][^%]*)*$/i.exec(text.slice(-12)) ?? [];
  return last.length;
}

/** The types that models take (V2). */
const imageTypes: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

const signatures: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
];

/**
 * A server must not choose the program that opens its file, so only known types have extensions.
 */
const ownExtensions: Readonly<Record<string, readonly string[]>> = {
  image: ['png', 'gif', 'webp', 'bmp', 'tiff', 'avif', 'heic', 'jpg'],
  audio: ['mp3', 'wav', 'ogg', 'opus', 'flac', 'aac', 'webm'],
  video: ['mp4', 'webm'],
  application: ['pdf', 'json', 'xml', 'zip', 'wasm'],
  text: ['csv', 'html', 'css', 'xml'],
  font: ['woff2'],
};

const otherTypes: Readonly<Record<string, readonly string[]>> = {
  jpg: ['image/jpeg'],
  svg: ['image/svg+xml'],
  ico: ['image/x-icon', 'image/vnd.microsoft.icon'],
  mp3: ['audio/mpeg'],
  wav: ['audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
  flac: ['audio/x-flac'],
  m4a: ['audio/mp4', 'audio/x-m4a'],
  mov: ['video/quicktime'],
  gz: ['application/gzip'],
  tar: ['application/x-tar'],
  docx: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  xlsx: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  pptx: ['application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  txt: ['text/plain'],
  md: ['text/markdown'],
};

/**
 * The first bytes count most, because a provider refuses the conversation for an image with a wrong
 * type.
 */
export function modelImageType(declared: string | undefined, base64: string): string | undefined {
  const type = declared === undefined ? undefined : bareType(declared);
  if (type !== undefined && type !== 'application/octet-stream' && !type.startsWith('image/')) {
    return undefined;
  }
  return signedType(base64) ?? imageTypes.find((each) => each === official(type));
}

/** Undefined if a model would refuse the image, because its bytes are no image of a known type. */
function typeOfImage(declared: string, base64: string): string | undefined {
  const isOfModels = imageTypes.includes(official(declared) ?? '');
  return signedType(base64) ?? (isOfModels || declared === '' ? undefined : declared);
}

function signedType(base64: string): string | undefined {
  const start = Buffer.from(base64.slice(0, 64).replace(/\s+/g, ''), 'base64').toString('latin1');
  return signatures.find(([, pattern]) => pattern.test(start))?.[0];
}

/** The other spelling is common. */
function official(type: string | undefined): string | undefined {
  return type === 'image/jpg' ? 'image/jpeg' : type;
}

export function extensionOf(type: string | undefined): string {
  const bare = bareType(type ?? '');
  const [, kind = '', name = ''] = /^(\w+)\/([\w+.-]+)$/.exec(bare) ?? [];
  // A server writes the type, and might name an inherited property.
  if (Object.hasOwn(ownExtensions, kind) && ownExtensions[kind]?.includes(name)) return name;
  const [other] = Object.entries(otherTypes).find(([, types]) => types.includes(bare)) ?? [];
  return other ?? /\+(json|xml|zip)$/.exec(bare)?.[1] ?? 'bin';
}

export function hasModelImage(file: string): boolean {
  return imageTypes.some((type) => file.endsWith(`.${extensionOf(type)}`));
}

const longestType = 1_000;

export function bareType(type: string): string {
  // Longer names belong to no type that we know.
  return (type.slice(0, longestType).split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Returns a type for people, because a server may write any text there. */
export function shown(type: string): string {
  // The rest is never shown, and replacing blanks in a long text takes long.
  return clipped(type.trimStart().slice(0, 200).replace(/\s+/g, ' ').trim(), 101);
}
