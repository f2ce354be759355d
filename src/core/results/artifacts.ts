/** The place for files that the rest of `results` needs (V2, V3). */
import { takeAll, turn, type Pieces } from './pieces.js';

/** Says whose result it is. Names of servers and tools that break the rule for names (N4) are made safe. */
export interface ArtifactOrigin {
  readonly server: string;
  /** The published name. */
  readonly tool: string;
  /** Absent where the call belongs to no conversation. */
  readonly conversation?: string;
}

export interface ArtifactContent {
  /** The extension without a dot. */
  readonly extension: string;
  readonly pieces: Pieces;
}

export type SaveOutcome =
  | { readonly kind: 'saved'; readonly path: string; readonly bytes: number }
  /** `why` is a clause: "the disk is full". */
  | { readonly kind: 'notSaved'; readonly why: string }
  /** The content itself is broken. `why` is a clause: "its data is not base64". */
  | { readonly kind: 'unreadable'; readonly why: string };

export interface ArtifactStore {
  /** Reads the pieces to their end. It never rejects: a result arrives whatever becomes of its files. */
  save(origin: ArtifactOrigin, content: ArtifactContent): Promise<SaveOutcome>;
  /**
   * Resolves to the paths of the files that a conversation's calls left and that still exist, oldest first. It never rejects.
   */
  ofConversation(conversation: string): Promise<readonly string[]>;
  /** Resolves when nothing is being written or removed. */
  settled(): Promise<void>;
}

/** Stands in where there is no folder to write to. It still finds out what is broken. */
export function nowhere(why: string): ArtifactStore {
  return {
    save: async (_origin, { pieces }) => {
      const { unreadable } = await takeAll(pieces, turn);
      return unreadable === undefined ? { kind: 'notSaved', why } : { kind: 'unreadable', why: unreadable };
    },
    ofConversation: () => Promise.resolve([]),
    settled: () => Promise.resolve(),
  };
}
