/** Finds the parts of a result with bytes (V2), and saves them. The result stays the same. */
import { isObject } from '../base/isObject.js';
import type { ArtifactOrigin, ArtifactStore, SaveOutcome } from './artifacts.js';
import { decoded, decodedSize, splitDataUrl } from './base64.js';
import { extensionOf, modelImageType } from './mediaTypes.js';

export type Fields = Readonly<Record<string, unknown>>;

export interface Binary {
  readonly kind: 'image' | 'audio' | 'resource';
  /** The URI of a resource. */
  readonly uri: string | undefined;
  /** The declared type, or the type in a data URL. */
  readonly type: string | undefined;
  /** Set for an image of a type that models take. */
  readonly imageType: string | undefined;
  /** Has no `data:` prefix. */
  readonly base64: string;
  /** An estimate, which may be a little too large. */
  readonly bytes: number;
}

/** The outcome of each part with bytes, by identity. */
export type SavedParts = ReadonlyMap<unknown, SaveOutcome>;

export function binaryOf(part: unknown): Binary | undefined {
  if (!isObject(part)) return undefined;
  switch (part['type']) {
    case 'image':
    case 'audio':
      return binary(part['type'], undefined, part['mimeType'], part['data']);
    case 'resource': {
      const inner = part['resource'];
      // An agent reads the text if there are both text and bytes.
      if (!isObject(inner) || typeof inner['uri'] !== 'string' || typeof inner['text'] === 'string') return undefined;
      return binary('resource', inner['uri'], inner['mimeType'], inner['blob']);
    }
    default:
      return undefined;
  }
}

function binary(
  kind: Binary['kind'],
  uri: string | undefined,
  declared: unknown,
  content: unknown,
): Binary | undefined {
  if (typeof content !== 'string') return undefined;
  const { base64, type: typeOfUrl } = splitDataUrl(content);
  const type = typeof declared === 'string' && declared.trim() !== '' ? declared : typeOfUrl;
  const imageType = kind === 'audio' ? undefined : modelImageType(type, base64);
  return { kind, uri, type, imageType, base64, bytes: decodedSize(base64) };
}

/** The limit of files for one result (V2), because even a small file takes a block of the disk. */
export const mostFiles = 32;
export const tooManyFiles = `one answer leaves at most ${mostFiles} files`;

/**
 * Saves one part after the other, so that a result opens one file at a time.
 *
 * @param most the limit of saved parts; the others get a note
 */
export async function saveBinaries(
  content: unknown,
  origin: ArtifactOrigin,
  store: ArtifactStore,
  most = mostFiles,
): Promise<SavedParts> {
  const saved = new Map<unknown, SaveOutcome>();
  if (!Array.isArray(content)) return saved;
  let left = most;
  const over: unknown[] = [];
  for (const part of content as unknown[]) {
    const found = binaryOf(part);
    if (!found) continue;
    if (left <= 0) {
      over.push(part);
      continue;
    }
    const outcome = await save(found, origin, store);
    if (outcome.kind === 'saved') left -= 1;
    saved.set(part, outcome);
  }
  const why = `${tooManyFiles}, and ${over.length} more of its parts have bytes`;
  for (const part of over) saved.set(part, { kind: 'notSaved', why });
  return saved;
}

function save(found: Binary, origin: ArtifactOrigin, store: ArtifactStore): Promise<SaveOutcome> | SaveOutcome {
  if (found.base64.trim() === '' && found.kind !== 'resource') return { kind: 'unreadable', why: 'it has no data' };
  return store.save(origin, {
    extension: extensionOf(found.imageType ?? found.type),
    pieces: decoded(found.base64),
  });
}
