/**
 * What a person can act on. Every problem has a stable code, a place in a file, what happened and what to do next.
 * The factories live where the trouble is found; the codes are listed here, so that each has its documentation.
 */
export interface Position {
  /** Zero-based. */
  readonly line: number;
  /** Zero-based, in UTF-16 code units. */
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  /** Exclusive. */
  readonly end: Position;
}

export interface Place {
  /** Absolute path. */
  readonly file: string;
  readonly range: Range;
}

export type Severity = 'error' | 'warning' | 'information';

export interface Problem {
  readonly code: ProblemCode;
  readonly severity: Severity;
  /** What is wrong, one or more sentences. */
  readonly message: string;
  /** What to do, in the imperative. */
  readonly fix: string;
  readonly place: Place;
  /** The id of the server it belongs to, if it belongs to one. */
  readonly server?: string;
  /** The original name of the one tool that is left out, or whose leaving out mends it, where that is what it is about. */
  readonly tool?: string;
  /** What was probably meant instead of the value at the place. */
  readonly instead?: string;
  readonly related?: readonly { readonly message: string; readonly place: Place }[];
}

export const problemCodes = [
  // the whole file (C4)
  'yaml-syntax',
  'json-syntax',
  'version-missing',
  'version-unsupported',
  'servers-not-a-map',
  'duplicate-server',
  'file-unreadable',
  // one entry (C1–C3, C5)
  'server-id-invalid',
  'unknown-key',
  'key-not-for-transport',
  'missing-key',
  'wrong-type',
  'duplicate-key',
  'env-name-invalid',
  'header-invalid',
  'transport-sse',
  'transport-unsupported',
  'duration-invalid',
  'url-invalid',
  'cwd-missing',
  'env-unset',
  'id-in-other-folder',
  'server-shadowed',
  // filtering and naming (N, G3a)
  'pattern-matches-nothing',
  'filtered-tools',
  'tool-name-invalid',
  'published-name-invalid',
  'name-twice-in-server',
  'name-taken',
  'name-reserved',
  'schema-unusable',
  'tool-malformed',
  'entry-left-out',
  'editor-id-too-long',
  'editor-toolset-hidden',
  'too-many-tools',
  // starting and running (S1, X, R)
  'approval-pending',
  'tools-changed',
  'sign-in-needed',
  'command-not-found',
  'command-not-executable',
  'server-exited',
  'server-silent',
  'server-not-jsonrpc',
  'server-protocol',
  'http-unauthorized',
  'http-not-found',
  'http-status',
  'http-not-mcp',
  'http-tls',
  'http-unreachable',
  'list-failed',
  'refresh-failed',
  'list-incomplete',
  'connection-lost',
  'too-many-instances',
  // agents outside the editor (G6)
  'endpoint-port-taken',
  'endpoint-failed',
  // the team (D2)
  'member-id-invalid',
  'member-unknown',
  'member-in-other-folder',
  'toolset-unknown',
  'toolset-deferred',
  'grant-without-effect',
  // the models of dialogs (D3, D4)
  'model-rejected',
  'model-may-refuse',
] as const;

export type ProblemCode = (typeof problemCodes)[number];
