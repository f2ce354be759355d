/** What the rest of `results` needs of a place for files (spec V2, V3). */
import type { Pieces } from './base64.js';

/** Whose result it is. Both are names by rule N4, or they are made safe. */
export interface ArtifactOrigin {
  readonly server: string;
  /** Published name. */
  readonly tool: string;
}

export interface ArtifactContent {
  /** Without a dot. */
  readonly extension: string;
  /** About, for the quota. */
  readonly bytes: number;
  readonly pieces: () => Pieces;
}

export type SaveOutcome =
  | { readonly kind: 'saved'; readonly path: string; readonly bytes: number }
  /** `why` is a clause: "the disk is full". */
  | { readonly kind: 'notSaved'; readonly why: string }
  /** The content is broken, wherever it would go. `why` is a clause: "its data is not base64". */
  | { readonly kind: 'unreadable'; readonly why: string };

/** Never rejects: a result arrives whatever becomes of its files. */
export interface ArtifactStore {
  save(origin: ArtifactOrigin, content: ArtifactContent): Promise<SaveOutcome>;
  /** Resolves when nothing is being written or removed. */
  settled(): Promise<void>;
}

/** For where there is no folder to write to. Still finds out what is broken. */
export function nowhere(why: string): ArtifactStore {
  return {
    save: async (_origin, content) => (await faultOf(content)) ?? { kind: 'notSaved', why },
    settled: () => Promise.resolve(),
  };
}

/** Reads content without keeping it; others have their turn between the pieces. */
export async function faultOf(content: ArtifactContent): Promise<SaveOutcome | undefined> {
  const pieces = content.pieces();
  for (;;) {
    const next = pieces.next();
    if (next.done) return next.value === undefined ? undefined : { kind: 'unreadable', why: next.value };
    if (next.value.length >= longPiece) await new Promise((resolve) => setImmediate(resolve));
  }
}

const longPiece = 1 << 18;
