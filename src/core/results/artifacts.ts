/** Names that break the rule for names (N4) are made safe. */
export interface ArtifactOrigin {
  readonly server: string;
  /** The published name. */
  readonly tool: string;
  readonly conversation: string;
}

export interface ArtifactContent {
  readonly extension: string;
  readonly pieces: readonly Uint8Array[];
}

/** `why` is a clause: "the disk is full". */
export type SaveOutcome =
  | {
      readonly kind: 'saved';
      readonly path: string;
      readonly bytes: number;
    }
  | { readonly kind: 'notSaved'; readonly why: string };

export interface ArtifactStore {
  /** Never rejects: a result arrives even if its files do not. */
  save(origin: ArtifactOrigin, content: ArtifactContent): Promise<SaveOutcome>;
  /**
   * Resolves with the paths of the conversation's files that still exist, oldest first. Never
   * rejects.
   */
  ofConversation(conversation: string): Promise<readonly string[]>;
  /** Resolves when no write and no removal is under way. */
  settled(): Promise<void>;
}

export function nowhere(why: string): ArtifactStore {
  return {
    save: () => Promise.resolve({ kind: 'notSaved', why }),
    ofConversation: () => Promise.resolve([]),
    settled: () => Promise.resolve(),
  };
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
