/**
 * What a config file says, after validation: plain values, with the places that later problems point at.
 * Nothing here is live; hashes tell what kind of change an edit is (R2).
 */
import type { Place, Problem, Range } from '../base/problem.js';

/** `folder`: `.minds/mcp.yaml` of a workspace folder; `mcprc`: its `.mcprc`; `user`: the user's `~/.minds/mcp.yaml`. */
export type SourceOrigin = 'folder' | 'mcprc' | 'user';

/** One file that servers can come from; its text is passed in, `undefined` when the file does not exist. */
export interface SourceText {
  /** Absolute path. */
  readonly file: string;
  /** Absolute path of the workspace folder; relative `cwd` starts here. Of the user's file: the first one, else home. */
  readonly folder: string;
  /** Default `folder`. */
  readonly origin?: SourceOrigin;
  readonly text: string | undefined;
}

/** A text or a copy of a host variable. `value` is what the server gets; `variable` names where it came from. */
export type EnvValue =
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'host'; readonly variable: string; readonly prefix: string; readonly value: string };

export interface StdioLaunch {
  readonly transport: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute path. */
  readonly cwd: string;
  /** What is laid over the host's environment, in the order written. */
  readonly env: ReadonlyMap<string, EnvValue>;
}

export interface HttpLaunch {
  readonly transport: 'streamable_http';
  readonly url: string;
  readonly headers: ReadonlyMap<string, EnvValue>;
  /** Empty: none. */
  readonly sessionId: string;
  /** What the file says about signing in; absent: everything is found out from the server. */
  readonly oauth?: OAuthSettings;
}

/** How this client is known to the authorization server of an HTTP server (X7). */
export interface OAuthSettings {
  /** `client_credentials`: as a program, with no person asked. */
  readonly grant: 'authorization_code' | 'client_credentials';
  /** Empty: one is registered. An https URL is the address of a client id metadata document. */
  readonly clientId: string;
  readonly clientSecret: EnvValue | undefined;
  /** PEM, instead of a secret. */
  readonly privateKey: EnvValue | undefined;
  /** Asked for instead of what the server names. */
  readonly scopes: readonly string[];
  /** The port of the redirect address; undefined: any. */
  readonly redirectPort: number | undefined;
}

export type Launch = StdioLaunch | HttpLaunch;

/** Patterns of rule N1; an empty list is the same as none. */
export interface NameFilter {
  readonly whitelist: readonly string[];
  readonly blacklist: readonly string[];
}

export type Transform =
  | { readonly kind: 'prefix'; readonly add: string }
  | { readonly kind: 'replacePrefix'; readonly remove: string; readonly add: string }
  | { readonly kind: 'suffix'; readonly add: string };

/** What of a server's prompts is published, under which names; the same rules as for tools. */
export interface PromptSelection {
  readonly filter: NameFilter;
  readonly transform: readonly Transform[];
}

/** All in milliseconds. The defaults are `defaultTimeouts`. */
export interface Timeouts {
  /** The limit to connect, initialize and list every page. */
  readonly connect: number;
  /** The limit since the last sign of life of a call. */
  readonly call: number;
  /** The limit for a call in all. */
  readonly callMax: number;
  /** The time without a call after which an instance is stopped. */
  readonly idle: number;
}

/** Where the parts of one server's entry stand. */
export interface ServerPlaces {
  /** The server's id, the key of its entry. */
  readonly key: Place;
  /** Range of the value at a path, e.g. `['tools', 'whitelist', 0]`; the nearest parent's if that is not written. */
  value(path: readonly (string | number)[]): Place;
  /** Range of the key at a path, else as `value`. */
  keyAt(path: readonly (string | number)[]): Place;
}

export interface ServerDefinition {
  readonly id: string;
  readonly enabled: boolean;
  /** One instance for all dialogs (L1). */
  readonly trulyStateless: boolean;
  readonly launch: Launch;
  readonly tools: NameFilter;
  readonly transform: readonly Transform[];
  readonly prompts: PromptSelection;
  readonly resources: NameFilter;
  readonly timeouts: Timeouts;
  readonly places: ServerPlaces;
  /** Of what an instance is started from: a change means a new instance. Contains resolved host values, hashed. */
  readonly launchHash: string;
  /** Of filters, transforms and timeouts: a change is applied without restarting anything. */
  readonly viewHash: string;
}

/** One entry under `servers:`, whole or not (C4: one bad entry costs one entry). */
export type ConfiguredServer =
  | (ServerOfFile & { readonly kind: 'valid'; readonly definition: ServerDefinition })
  | (ServerOfFile & { readonly kind: 'invalid'; readonly places: ServerPlaces });

interface ServerOfFile {
  readonly id: string;
  /** The file. */
  readonly source: string;
  readonly origin: SourceOrigin;
}

/** What one file comes to. `refused`: the reload of that file is refused whole (C4). */
export type ParsedSource =
  | { readonly kind: 'refused'; readonly file: string; readonly problems: readonly Problem[] }
  | {
      readonly kind: 'accepted';
      readonly file: string;
      /** The workspace folder the file belongs to (C5). */
      readonly folder: string;
      readonly origin: SourceOrigin;
      readonly servers: readonly ConfiguredServer[];
      readonly problems: readonly Problem[];
    };

/** All files together, in the order in which names are claimed and tools are published (N5, N6). */
export interface ConfigModel {
  readonly servers: readonly ConfiguredServer[];
  /** Entries of lower sources with the id of a server (C5), by that id: where they stand. */
  readonly shadowed: ReadonlyMap<string, readonly Place[]>;
}

/** What config asks of its surroundings; it never touches disk or process itself. */
export interface ConfigSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  directoryExists(path: string): boolean;
}

export const startOfFile: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
