/** The result of importing another program's file (C6): entries of `.minds/mcp.yaml` as plain values, and notes. */

/** A text, or a reference to a host variable or to a secret that the person enters (C2). */
export type ImportedValue =
  | string
  | { readonly prefix?: string; readonly env: string; readonly suffix?: string; readonly default?: string }
  | { readonly prefix?: string; readonly secret: string; readonly suffix?: string };

/** An entry with its keys in the order in which they are written. */
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
  /** Its name in the file that it comes from. */
  readonly written: string;
  readonly entry: ImportedEntry;
}

/**
 * Something that a person should know: a variable or a secret has to be `set`, a value is written in another way (`changed`) or
 * cannot be expressed (`lost`), or a server is not imported (`skipped`). No value that may be a secret is in a message.
 */
export interface ImportNote {
  readonly kind: 'set' | 'changed' | 'lost' | 'skipped';
  /** The id under which the server is imported; it is absent for the whole file and for a server that is not imported. */
  readonly server?: string;
  readonly message: string;
}

export type Import =
  | { readonly kind: 'unreadable'; readonly reason: string }
  | {
      readonly kind: 'imported';
      readonly servers: readonly ImportedServer[];
      readonly notes: readonly ImportNote[];
      /** The secrets that the file has written out, by the names that the servers refer to. No text for a person has them. */
      readonly secrets: ReadonlyMap<string, string>;
    };

export interface ImportFolders {
  /** The absolute path of the folder whose `.minds/mcp.yaml` is written. */
  readonly folder: string;
  /** The absolute path of the user's home. */
  readonly home: string;
}
