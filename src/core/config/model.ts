/**
 * A config file after validation: plain values, with the places that later problems point at. Nothing here is live;
 * hashes tell what kind of change an edit is (R2).
 */
import type { Place, Problem, Range } from '../base/problem.js';

/** `folder`: `.minds/mcp.yaml` of a workspace folder; `mcprc`: its `.mcprc`; `user`: the user's `~/.minds/mcp.yaml`. */
export type SourceOrigin = 'folder' | 'mcprc' | 'user';

/** One file that servers can come from; its text is passed in, `undefined` when the file does not exist. */
export interface SourceText {
  /** The absolute path. */
  readonly file: string;
  /** The absolute path of the workspace folder, where a relative `cwd` starts. For the user's file it is home. */
  readonly folder: string;
  /** The default is `folder`. */
  readonly origin?: SourceOrigin;
  readonly text: string | undefined;
}

/** A text that is written in the file, or a reference to one that is kept elsewhere. The server gets `value`. */
export type EnvValue = { readonly kind: 'literal'; readonly value: string } | Reference;

/** A reference to a value that is not in the file (C2), and what is put around it. */
export interface Reference {
  readonly kind: 'reference';
  readonly source: ReferenceSource;
  readonly prefix: string;
  readonly suffix: string;
  /** The text that counts where the source has no value; without one the server does not start. */
  readonly fallback: string | undefined;
  /**
   * The value with prefix and suffix, which is a secret. It is empty for a server that is not started, and before its
   * program has run.
   */
  readonly value: string;
}

/** Where the value of a reference is: in a variable of the host, in the store of the person's secrets, or with a program. */
export type ReferenceSource =
  | { readonly kind: 'env' | 'secret'; readonly name: string }
  /** The program and its arguments, and the absolute path of the folder in which it runs. It runs when the server starts. */
  | { readonly kind: 'command'; readonly argv: readonly [string, ...string[]]; readonly cwd: string };

/** A file of variables (C2). */
export interface EnvFile {
  /** The absolute path as it is written, links not followed. */
  readonly file: string;
  /** The variables of the file but for those that `env` has too. There are none for a server that is not started. */
  readonly values: ReadonlyMap<string, string>;
}

/** The text of a file of variables, or a phrase that says why there is none. */
export type EnvFileReading =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: string };

export interface StdioLaunch {
  readonly transport: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** The references among `args`, by index. */
  readonly argReferences?: ReadonlyMap<number, Reference>;
  /** The absolute path. */
  readonly cwd: string;
  /** It is absent where the entry names none. */
  readonly envFile?: EnvFile;
  /** The variables that are laid over those of the host and of `envFile`, in the order written. */
  readonly env: ReadonlyMap<string, EnvValue>;
}

export interface HttpLaunch {
  readonly transport: 'streamable_http';
  readonly url: string;
  /** The reference that `url` is, if it is one. */
  readonly urlReference?: Reference;
  readonly headers: ReadonlyMap<string, EnvValue>;
  /** It is empty where there is none. */
  readonly sessionId: string;
  /** Says how to sign in. Where it is absent, everything is found out from the server. */
  readonly oauth?: OAuthSettings;
}

/** Says how the authorization server of an HTTP server knows this client (X7). */
export interface OAuthSettings {
  /** With `client_credentials` this client signs in as a program, and no person is asked. */
  readonly grant: 'authorization_code' | 'client_credentials';
  /** If it is empty, a client is registered. An https URL is the address of a client id metadata document. */
  readonly clientId: string;
  /** The authorization server, to which alone secret and key are shown; the server's own choice where it is undefined. */
  readonly issuer: string | undefined;
  readonly clientSecret: EnvValue | undefined;
  /** A key in PEM form, which replaces a secret. */
  readonly privateKey: EnvValue | undefined;
  /** The scopes to ask for instead of those that the server names. */
  readonly scopes: readonly string[];
  /** The port of the redirect address; any port is used where it is undefined. */
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

/** Says which resources of a server are published, by URI and media type, and how large one may be that is read. */
export interface ResourceSelection extends NameFilter {
  /** The media types in lower case; undefined where all are published. */
  readonly mimeTypes?: readonly string[];
  /** The limit of one that is read; undefined where there is none. */
  readonly maxBytes?: number;
}

/** Says which prompts of a server are published, and under which names. The rules are those of tools. */
export interface PromptSelection {
  readonly filter: NameFilter;
  readonly transform: readonly Transform[];
}

/** All values are in milliseconds. The defaults are `defaultTimeouts`. */
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

/** Knows where the parts of one server's entry stand. */
export interface ServerPlaces {
  /** The server's id, the key of its entry. */
  readonly key: Place;
  /** Returns the range of the value at a path, e.g. `['tools', 'whitelist', 0]`, or of the nearest parent if it is not written. */
  value(path: readonly (string | number)[]): Place;
  /** Returns the range of the key at a path, or what `value` returns where there is none. */
  keyAt(path: readonly (string | number)[]): Place;
}

/** `call`: nothing of a server whose tools are remembered runs until it is needed. */
export type StartTime = 'window' | 'call';

export interface ServerDefinition {
  readonly id: string;
  readonly enabled: boolean;
  /** All conversations share one instance (L1). */
  readonly trulyStateless: boolean;
  /** When its process starts, where the entry says it (P8). */
  readonly start?: StartTime;
  /** How many instances are started ahead of conversations, where the entry says it (P9). */
  readonly spare?: 0 | 1;
  readonly launch: Launch;
  readonly tools: NameFilter;
  readonly transform: readonly Transform[];
  readonly prompts: PromptSelection;
  readonly resources: ResourceSelection;
  /**
   * The text that agents are told of the toolset behind the server's own instructions; undefined where there is none.
   */
  readonly manual: string | undefined;
  readonly timeouts: Timeouts;
  readonly places: ServerPlaces;
  /** Hashes what an instance is started from, resolved host values included. A change means a new instance. */
  readonly launchHash: string;
  /** Hashes filters, transforms and timeouts. A change is applied without restarting anything. */
  readonly viewHash: string;
}

/** One entry under `servers:`, whole or not (C4: one bad entry costs one entry). */
export type ConfiguredServer =
  | (ServerOfFile & { readonly kind: 'valid'; readonly definition: ServerDefinition })
  | (ServerOfFile & { readonly kind: 'invalid'; readonly enabled: boolean; readonly places: ServerPlaces });

/** Says whether a server is to be started, once its entry is right. */
export function isEnabled(server: ConfiguredServer): boolean {
  return server.kind === 'valid' ? server.definition.enabled : server.enabled;
}

interface ServerOfFile {
  readonly id: string;
  /** The file that the entry comes from. */
  readonly source: string;
  readonly origin: SourceOrigin;
}

/** The result of parsing one file. The reload of a `refused` file is refused as a whole (C4). */
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
  /** The places of entries in lower sources whose id a server has (C5), by that id. */
  readonly shadowed: ReadonlyMap<string, readonly Place[]>;
}

/** What the configuration asks of the outside, because it never touches disk or process itself. */
export interface ConfigDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  directoryExists(path: string): boolean;
  /** Returns a secret that the person has entered. Where this is absent, nobody has entered any. */
  readonly secret?: (name: string) => string | undefined;
  /**
   * Reads a file of variables, which must not be outside the folder `within`. Where this is absent, every such file counts
   * as empty.
   */
  readonly envFile?: (file: string, within: string | undefined) => EnvFileReading;
}

/** The id of the toolset that is always there (L5). */
export const builtInToolset = 'mcp_admin';

export const startOfFile: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
