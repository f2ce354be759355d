/** A config file after validation: plain values with places for later problems. */
import type { Place, Problem, Range } from '../base/problem.js';
import type { FileContent } from '../base/textFile.js';

/**
 * `folder`: `.minds/mcp.yaml` of a workspace folder; `mcprc`: its `.mcprc`; `user`: the user's
 * `~/.minds/mcp.yaml`.
 */
/** `local`: the layer of one person (C7). */
export type SourceOrigin = 'folder' | 'mcprc' | 'local' | 'user';

export interface SourceText {
  readonly file: string;
  /**
   * The absolute path of the workspace folder, for a relative `cwd`. For the user's file it is
   * home.
   */
  readonly folder: string;
  /** The default is `folder`. */
  readonly origin?: SourceOrigin;
  readonly text: string | undefined;
  /** Why the file cannot be read now, as a phrase. The text is an earlier one then. */
  readonly unreadable?: string | undefined;
  /** The server whose launch waits, because a person still types it (R1a). */
  readonly typed?: string | undefined;
  /** The lock file of the folder (S3d), at its `.minds/mcp.yaml` only. */
  readonly lock?: FileContent | undefined;
}

/** A text of a launch, written out or by reference. */
export type Value = { readonly kind: 'literal'; readonly value: string } | Reference;

export function literal(value: string): Value {
  return { kind: 'literal', value };
}

export interface Reference {
  readonly kind: 'reference';
  readonly source: ReferenceSource;
  readonly prefix: string;
  readonly suffix: string;
  /** The text for a source without a value. Without a fallback the server does not start. */
  readonly fallback: string | undefined;
  /**
   * A secret: the value with prefix and suffix. It is empty for a disabled server, and before its
   * program has run.
   */
  readonly value: string;
}

export type ReferenceSource =
  | { readonly kind: 'env' | 'secret'; readonly name: string }
  /**
   * The program with its arguments, and the absolute path of its folder. It runs when the server
   * starts.
   */
  | {
      readonly kind: 'command';
      readonly argv: readonly [string, ...string[]];
      readonly cwd: string;
    };

export interface EnvFile {
  readonly file: string;
  /** The variables of the file, without those also in `env`. A disabled server has none. */
  readonly values: ReadonlyMap<string, string>;
}

/** The text of a file of variables, or a phrase with the reason for its refusal. */
export type EnvFileReading =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** The package or image that a launch names (C8). */
export interface NamedPackage {
  /** As in the table of `core/packages`, such as `npx` or `docker run`. */
  readonly launcher: string;
  readonly name: string;
  /** The text behind the name, such as `1.2.3`, `^1`, `latest` and `sha256:…`. */
  readonly requested?: string;
  /** True for an exact version and a digest. */
  readonly pinned: boolean;
  /** The index of the argument with it. */
  readonly argument: number;
}

/** A file of the workspace that decides what the launcher of a launch runs (S1o). */
export interface DecidingFile {
  /** `registry`: settings of the launcher. */
  readonly kind: 'local package' | 'registry';
  readonly file: string;
  readonly digest: string;
}

export interface StdioLaunch<V = Value> {
  readonly transport: 'stdio';
  readonly command: string;
  readonly args: readonly V[];
  readonly cwd: string;
  readonly envFile?: EnvFile | undefined;
  /** The variables laid over those of the host and of `envFile`, in file order. */
  readonly env: ReadonlyMap<string, V>;
  /** The paths of its programs in the workspace (S1n). Without such a program it is absent. */
  readonly programs?: readonly string[];
  /** The files that decide what its launcher runs (S1o). Without such a file it is absent. */
  readonly deciding?: readonly DecidingFile[];
  /** True for the user's own file: no program is looked up in the workspace (S1c). */
  readonly isPersons?: true;
}

export interface HttpLaunch<V = Value> {
  readonly transport: 'streamable_http';
  readonly url: V;
  readonly headers: ReadonlyMap<string, V>;
  /** Empty if the entry has none. */
  readonly sessionId: string;
  /** The sign-in. Without it, the server provides everything. */
  readonly oauth?: OAuthSettings<V> | undefined;
}

export interface OAuthSettings<V = Value> {
  /** With `client_credentials` this client signs in as a program, and no person is asked. */
  readonly grant: 'authorization_code' | 'client_credentials';
  /**
   * If it is empty, a client is registered. An https URL is the address of a client id metadata
   * document.
   */
  readonly clientId: string;
  /**
   * The authorization server. Only it receives secret and key. By default the MCP server names it.
   */
  readonly issuer: string | undefined;
  readonly clientSecret: V | undefined;
  readonly privateKey: V | undefined;
  readonly scopes: readonly string[];
  /** The port of the redirect address. Undefined means any port. */
  readonly redirectPort: number | undefined;
}

export type Launch<V = Value> = StdioLaunch<V> | HttpLaunch<V>;

export interface NameFilter {
  readonly whitelist: readonly string[];
  readonly blacklist: readonly string[];
}

/** What the file says about one tool, in place of what its server says (O1). */
export interface ToolOverride {
  readonly description?: string | undefined;
  readonly arguments: ReadonlyMap<string, ArgumentOverride>;
}

/** `fixed` is always sent and excludes the others. `default` is sent if the agent gives none. */
export interface ArgumentOverride {
  readonly fixed?: { readonly value: unknown };
  readonly default?: { readonly value: unknown };
  /** Patterns of N1 for the texts that may be sent. */
  readonly allow?: readonly string[];
}

export type ToolOverrides = ReadonlyMap<string, ToolOverride>;

export type Transform =
  | { readonly kind: 'prefix'; readonly add: string }
  | {
      readonly kind: 'replacePrefix';
      readonly remove: string;
      readonly add: string;
    }
  | { readonly kind: 'suffix'; readonly add: string }
  /** Applied one after another. */
  | { readonly kind: 'replace'; readonly pairs: readonly Replacement[] };

/** Replaces a text by another one. */
export type Replacement = readonly [from: string, to: string];

export interface ResourceSelection extends NameFilter {
  readonly mimeTypes?: readonly string[] | undefined;
  readonly maxBytes?: number | undefined;
}

export interface PromptSelection {
  readonly filter: NameFilter;
  readonly transform: readonly Transform[];
}

/** All values are in milliseconds. The defaults are `defaultTimeouts`. */
export interface Timeouts {
  readonly connect: number;
  readonly call: number;
  readonly callMax: number;
  readonly idle: number;
}

export interface ServerPlaces {
  readonly key: Place;
  /**
   * The range of the value at a path, e.g. `['tools', 'whitelist', 0]`, or of the nearest written
   * parent.
   */
  value(path: readonly (string | number)[]): Place;
  /** Returns the range of the key at a path, or the result of `value` if there is no key. */
  keyAt(path: readonly (string | number)[]): Place;
}

/** `call`: a server with remembered tools starts when it is needed. */
export type StartTime = 'window' | 'call';

export interface ServerDefinition {
  readonly id: string;
  /** The file that decides about its approval: the layer over an entry of the user's own file. */
  readonly source: string;
  readonly enabled: boolean;
  readonly trulyStateless: boolean;
  readonly start?: StartTime | undefined;
  readonly spare?: 0 | 1 | undefined;
  readonly launch: Launch;
  /** Undefined if the launch names none that can be read. */
  readonly package?: NamedPackage | undefined;
  readonly tools: NameFilter;
  readonly transform: readonly Transform[];
  readonly overrides?: ToolOverrides | undefined;
  readonly prompts: PromptSelection;
  readonly resources: ResourceSelection;
  /** The text for agents about the toolset, before the server's own instructions. */
  readonly manual: string | undefined;
  readonly timeouts: Timeouts;
  readonly places: ServerPlaces;
  /** Hashes the inputs of an instance, with resolved host values. A change means a new instance. */
  readonly launchHash: string;
  /** Hashes filters, transforms and timeouts. A change is applied without restarting anything. */
  readonly viewHash: string;
}

/** One entry under `servers:`, whole or not (C4: one bad entry costs one entry). */
export type ConfiguredServer =
  | (ServerOfFile & { readonly kind: 'valid'; readonly definition: ServerDefinition })
  | (ServerOfFile & { readonly kind: 'invalid'; readonly enabled: boolean });

/** True unless the entry, valid or not, has `enabled: false`. */
export function isEnabled(server: ConfiguredServer): boolean {
  return server.kind === 'valid' ? server.definition.enabled : server.enabled;
}

/** `maxInstances` at the head of a file. */
export interface InstanceLimit {
  readonly most: number;
  readonly place: Place;
}

interface ServerOfFile {
  readonly id: string;
  readonly source: string;
  readonly origin: SourceOrigin;
  readonly places: ServerPlaces;
  /** What the layer of the person changes (C7); undefined without a part of it. */
  readonly local?: LocalPart | undefined;
}

/** The entry of `mcp.local.yaml` for a server. */
interface LocalPart {
  readonly place: Place;
  /** The paths of its values, such as `env.LOG_LEVEL`. */
  readonly keys: readonly string[];
  /** The lists of tools without the layer; undefined if it has no part of `tools`. */
  readonly listsBelow?: NameFilter | undefined;
}

export type ParsedSource =
  | {
      readonly kind: 'refused';
      readonly file: string;
      readonly problems: readonly Problem[];
    }
  | {
      readonly kind: 'accepted';
      readonly file: string;
      readonly folder: string;
      readonly origin: SourceOrigin;
      readonly servers: readonly ConfiguredServer[];
      readonly limit?: InstanceLimit;
      readonly problems: readonly Problem[];
    };

/** All files together, in the order for claiming names and publishing tools (N5b, N6). */
export interface ConfigModel {
  readonly servers: readonly ConfiguredServer[];
  /** The limit of the highest source that has one. */
  readonly limit?: InstanceLimit;
  /** The shadowed entries of lower sources (C5), by id. */
  readonly shadowed: ReadonlyMap<string, readonly Place[]>;
}

/** Everything from outside, because the configuration touches neither disk nor process. */
export interface ConfigDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  directoryExists(path: string): boolean;
  readonly secret?: (name: string) => string | undefined;
  /**
   * Reads a file of variables inside the folder `within`. By default every such file counts as
   * empty.
   */
  readonly envFile?: (file: string, within: string | undefined) => EnvFileReading;
  /** True if Git tracks a file, undefined if that is unknown. By default it tracks none. */
  readonly isTracked?: (file: string) => boolean | undefined;
  /** Makes the finders for one reading of all sources. */
  readonly findersFor?: (sources: readonly SourceText[]) => Finders;
  /** By default, they find nothing. */
  readonly finders?: Finders | undefined;
}

/** Find what a launch takes from the workspace. */
export interface Finders {
  /** The paths of each program of the workspace (S1n). */
  programs(launch: StdioLaunch): readonly string[];
  /** The files that decide what its launcher runs (S1o). */
  deciding(launch: StdioLaunch): readonly DecidingFile[];
}

export const builtInToolset = 'mcp_admin';

export const startOfFile: Range = {
  start: { line: 0, character: 0 },
  end: { line: 0, character: 0 },
};
