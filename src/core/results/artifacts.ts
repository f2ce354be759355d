/** What the rest of `results` needs of a place for files (V2, V3). */
import { takeAll, turn, type Pieces } from './pieces.js';

/** Whose result it is. Server and tool are names by rule N4, or they are made safe. */
export interface ArtifactOrigin {
  readonly server: string;
  /** Published name. */
  readonly tool: string;
  /** Absent: of a call that belongs to none. */
  readonly dialog?: string;
}

export interface ArtifactContent {
  /** Without a dot. */
  readonly extension: string;
  readonly pieces: Pieces;
}

export type SaveOutcome =
  | { readonly kind: 'saved'; readonly path: string; readonly bytes: number }
  /** `why` is a clause: "the disk is full". */
  | { readonly kind: 'notSaved'; readonly why: string }
  /** The content is broken, wherever it would go. `why` is a clause: "its data is not base64". */
  | { readonly kind: 'unreadable'; readonly why: string };

export interface ArtifactStore {
  /** Reads the pieces to their end. Never rejects: a result arrives whatever becomes of its files. */
  save(origin: ArtifactOrigin, content: ArtifactContent): Promise<SaveOutcome>;
  /** Paths of what calls of a dialog left and is still there, oldest first. Never rejects. */
  ofDialog(dialog: string): Promise<readonly string[]>;
  /** Resolves when nothing is being written or removed. */
  settled(): Promise<void>;
}

/** For where there is no folder to write to. Still finds out what is broken. */
export function nowhere(why: string): ArtifactStore {
  return {
    save: async (_origin, { pieces }) => {
      const { unreadable } = await takeAll(pieces, turn);
      return unreadable === undefined ? { kind: 'notSaved', why } : { kind: 'unreadable', why: unreadable };
    },
    ofDialog: () => Promise.resolve([]),
    settled: () => Promise.resolve(),
  };
}
