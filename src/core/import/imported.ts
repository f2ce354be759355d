/** The result of an import (C6): entries of `.minds/mcp.yaml` as plain values, and notes. */
import type { TextEdit } from '../yaml/edits.js';

export type ImportedValue =
  | string
  | {
      readonly prefix?: string;
      readonly env: string;
      readonly suffix?: string;
      readonly default?: string;
    }
  | {
      readonly prefix?: string;
      readonly secret: string;
      readonly suffix?: string;
    };

export type ImportedTable = Readonly<Record<string, ImportedValue>>;

export type ImportedEntry = {
  enabled?: false;
  transport: 'stdio' | 'streamable_http';
  command?: string;
  args?: readonly ImportedValue[];
  cwd?: string;
  envFile?: string;
  env?: ImportedTable;
  url?: ImportedValue;
  headers?: ImportedTable;
  tools?: { readonly whitelist?: readonly string[]; readonly blacklist?: readonly string[] };
  timeouts?: Readonly<Record<string, string>>;
};

export type ImportedServer = Readonly<{
  id: string;
  written: string;
  entry: ImportedEntry;
}>;

/**
 * `set` is for the person to do, `changed` is written otherwise, `lost` has no counterpart. None
 * quotes a secret.
 */
export interface ImportNote {
  readonly kind: 'set' | 'changed' | 'lost' | 'skipped';
  /** The new id of the server. It is absent for the whole file and for a skipped server. */
  readonly server?: string;
  readonly message: string;
}

export interface Imported {
  readonly kind: 'imported';
  readonly servers: readonly ImportedServer[];
  readonly notes: readonly ImportNote[];
  /** The secrets of the file, by the names in the new entries. No text for a person has them. */
  readonly secrets: ReadonlyMap<string, string>;
}

export type Import = Imported | { readonly kind: 'unreadable'; readonly reason: string };

/** A change of a file, to be shown and then written. `reason` is a phrase. */
export type Plan<Beside> =
  | { readonly kind: 'impossible'; readonly reason: string }
  | (Beside &
      Readonly<{
        kind: 'planned';
        edits: readonly TextEdit[];
        after: string;
        report: string;
      }>);

export type ImportFolders = Readonly<Record<'folder' | 'home', string>>;
