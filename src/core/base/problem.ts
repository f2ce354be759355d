/**
 * A problem is something a person can act on. It has a stable code and a place in a file, and says what happened and
 * what to do next. Problems are made where they are found; the codes are listed here, so that each has its
 * documentation.
 */
export interface Position {
  /** Counted from zero. */
  readonly line: number;
  /** Counted from zero, in UTF-16 code units. */
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  /** The first position that is no longer in the range. */
  readonly end: Position;
}

export interface Place {
  /** The absolute path. */
  readonly file: string;
  readonly range: Range;
}

export type Severity = 'error' | 'warning' | 'information' | 'hint';

/** Returns whether a person should look at a problem; everything else is only good to know. */
export function needsAttention({ severity }: Pick<Problem, 'severity'>): boolean {
  return severity === 'error' || severity === 'warning';
}

export interface Problem {
  readonly code: ProblemCode;
  readonly severity: Severity;
  /** Says in one or more sentences what is wrong. */
  readonly message: string;
  /** Says in the imperative what to do. */
  readonly fix: string;
  readonly place: Place;
  /** The id of the server it belongs to, if it belongs to one. */
  readonly server?: string;
  /** The original name of the one tool that is left out, or that has to be left out to solve the problem. */
  readonly tool?: string;
  /** The pattern that it is about. */
  readonly pattern?: string;
  /** The value that was probably meant instead of the one at the place. */
  readonly instead?: string;
  /** The number of the server's tools that the editor shows to agents, if it does not show all. */
  readonly inEditor?: number;
  readonly related?: readonly { readonly message: string; readonly place: Place }[];
}

export const problemCodes = [
  // These concern the whole file (C4).
  'yaml-syntax',
  'json-syntax',
  'version-missing',
  'version-unsupported',
  'servers-not-a-map',
  'duplicate-server',
  'file-unreadable',
  'too-many-servers',
  // These concern one entry (C1–C3, C5).
  'server-id-invalid',
  'unknown-key',
  'key-not-for-transport',
  'missing-key',
  'wrong-type',
  'duplicate-key',
  'env-name-invalid',
  'header-invalid',
  'key-not-used',
  'command-with-arguments',
  'transport-sse',
  'transport-unsupported',
  'duration-invalid',
  'url-invalid',
  'reference-not-replaced',
  'cwd-missing',
  'env-file-unusable',
  'env-unset',
  'secret-unset',
  'problems-left-out',
  'id-in-other-folder',
  'server-shadowed',
  // These concern filtering and naming (N, G3a).
  'pattern-blank',
  'pattern-matches-nothing',
  'pattern-overruled',
  'filtered-tools',
  'tool-name-invalid',
  'published-name-invalid',
  'tool-listed-twice',
  'name-twice-in-server',
  'name-taken',
  'name-reserved',
  'schema-unusable',
  'tool-malformed',
  'app-unusable',
  'entry-left-out',
  'editor-id-too-long',
  'editor-schema-refused',
  'agent-host-name',
  'agents-window-off',
  'editor-toolset-hidden',
  'too-many-tools',
  // These concern starting and running (S1, X, R).
  'approval-pending',
  'server-barred',
  'value-command-failed',
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
  'list-too-long',
  'connection-lost',
  'too-many-instances',
  // These concern agents outside the editor (G6).
  'endpoint-port-taken',
  'endpoint-port-unconfirmed',
  'endpoint-failed',
  // This one concerns sessions of the editor outside its window (G2).
  'editor-port-taken',
  // These concern the team (D2).
  'member-id-invalid',
  'member-unknown',
  'member-in-other-folder',
  'toolset-unknown',
  'toolset-deferred',
  'grant-without-effect',
  // These concern the models of conversations (D3, D4).
  'model-rejected',
  'model-may-refuse',
] as const;

export type ProblemCode = (typeof problemCodes)[number];
