/** The result of importing another program's file (C6): entries of `.minds/mcp.yaml` as plain values, and notes. */

export type ImportFormat =
  | 'claude-desktop'
  | 'claude-code'
  | 'cursor'
  | 'vscode'
  | 'mcprc'
  | 'codex'
  | 'otter'
  | 'cline'
  | 'opencode';

/** A text, or a reference to a host variable or to a stored secret (C2). */
export type ImportedValue =
  | string
  | { readonly prefix?: string; readonly env: string; readonly suffix?: string; readonly default?: string }
  | { readonly prefix?: string; readonly secret: string; readonly suffix?: string };

/** An entry. The order of its keys is the order in the file. */
export type ImportedEntry = {
  enabled?: false;
  transport: 'stdio' | 'streamable_http';
  command?: string;
  args?: readonly ImportedValue[];
  cwd?: string;
  envFile?: string;
  env?: Readonly<Record<string, ImportedValue>>;
  url?: ImportedValue;
  headers?: Readonly<Record<string, ImportedValue>>;
  tools?: { readonly whitelist?: readonly string[]; readonly blacklist?: readonly string[] };
  timeouts?: Readonly<Record<string, string>>;
};

export interface ImportedServer {
  readonly id: string;
  /** Its name in the original file. */
  readonly written: string;
  readonly entry: ImportedEntry;
}

/**
 * A note for the person: a variable or a secret has to be `set`, a value is `changed` or `lost`, or a server is
 * `skipped`. No message has a possible secret.
 */
export interface ImportNote {
  readonly kind: 'set' | 'changed' | 'lost' | 'skipped';
  /** The id of the imported server. Absent for the whole file and for a skipped server. */
  readonly server?: string;
  readonly message: string;
}

export type Import =
  | { readonly kind: 'unreadable'; readonly reason: string }
  | {
      readonly kind: 'imported';
      readonly servers: readonly ImportedServer[];
      readonly notes: readonly ImportNote[];
      /** The literal secrets of the file, by the names in the references. No text for a person has them. */
      readonly secrets: ReadonlyMap<string, string>;
    };

export interface ImportFolders {
  /** The absolute path of the folder around `.minds/mcp.yaml`. */
  readonly folder: string;
  /** The absolute path of the user's home. */
  readonly home: string;
}
