/** What an import makes of another program's file (C6): entries of `.minds/mcp.yaml` as plain values, and notes. */

export type ImportFormat =
  'claude-desktop' | 'claude-code' | 'cursor' | 'vscode' | 'mcprc' | 'codex' | 'otter' | 'cline' | 'opencode';

/** A text, or a reference to a host variable (C1). */
export type ImportedValue = string | { readonly prefix?: string; readonly env: string };

/** In the order in which the keys are written. */
export type ImportedEntry = {
  enabled?: false;
  transport: 'stdio' | 'streamable_http';
  command?: string;
  args?: readonly string[];
  cwd?: string;
  env?: Readonly<Record<string, ImportedValue>>;
  url?: string;
  headers?: Readonly<Record<string, ImportedValue>>;
  tools?: { readonly whitelist?: readonly string[]; readonly blacklist?: readonly string[] };
  timeouts?: Readonly<Record<string, string>>;
};

export interface ImportedServer {
  readonly id: string;
  readonly entry: ImportedEntry;
}

/**
 * What a person should know. `set`: a variable has to be set. `changed`: it is written in another way. `lost`: it cannot
 * be expressed. `skipped`: the server is not imported. No value that may be a secret is in a message.
 */
export interface ImportNote {
  readonly kind: 'set' | 'changed' | 'lost' | 'skipped';
  /** The id under which it is imported; absent: the whole file, or a server that is not imported. */
  readonly server?: string;
  readonly message: string;
}

export type Import =
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'imported'; readonly servers: readonly ImportedServer[]; readonly notes: readonly ImportNote[] };

export interface ImportSurroundings {
  /** Absolute path of the folder whose `.minds/mcp.yaml` is written. */
  readonly folder: string;
  /** Absolute path of the user's home. */
  readonly home: string;
}
