/** A problem is something a person can act on. The codes of all rooms are listed here, so each has its documentation. */
export interface Position {
  readonly line: number;
  /** Counted from zero like lines, in UTF-16 code units. */
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  /** The first position behind the range. */
  readonly end: Position;
}

export type Place = { readonly file: string; readonly range: Range };

export type Severity = 'error' | 'warning' | 'information' | 'hint';

/** True if a person should look at a problem. Other problems are background. */
export function needsAttention({ severity }: Pick<Problem, 'severity'>): boolean {
  return severity === 'error' || severity === 'warning';
}

export interface Problem {
  readonly code: ProblemCode;
  readonly severity: Severity;
  readonly message: string;
  /** The next step, in the imperative. */
  readonly fix: string;
  readonly place: Place;
  readonly server?: string;
  /** The original name of the tool left out, or to leave out as a solution. */
  readonly tool?: string;
  readonly pattern?: string;
  /** The probably intended value in place of the present one. */
  readonly instead?: string;
  /** The number of the server's tools shown by the editor, if some are missing. */
  readonly inEditor?: number;
  readonly related?: readonly { readonly message: string; readonly place: Place }[];
}

export function byPlace({ place: a }: Problem, { place: b }: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  const one = a.range.start;
  const other = b.range.start;
  return one.line - other.line || one.character - other.character;
}

/** The problems of a starting or running server. Its log has more about them. */
export const runtimeCodes = [
  'value-command-failed',
  'command-not-found',
  'command-not-executable',
  'program-changed',
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
  'connection-lost',
] as const;

export const problemCodes = [
  'yaml-syntax',
  'json-syntax',
  'version-missing',
  'version-unsupported',
  'servers-not-a-map',
  'duplicate-server',
  'file-unreadable',
  'too-many-servers',
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
  'output-schema-left-out',
  'override-unknown',
  'override-unusable',
  'override-refused',
  'tool-malformed',
  'app-unusable',
  'entry-left-out',
  'editor-id-too-long',
  'editor-schema-refused',
  'agent-host-name',
  'agents-window-off',
  'editor-toolset-hidden',
  'too-many-tools',
  'approval-pending',
  'server-barred',
  'tools-changed',
  'sign-in-needed',
  ...runtimeCodes,
  'list-incomplete',
  'list-too-long',
  'too-many-instances',
  'endpoint-port-taken',
  'endpoint-port-unconfirmed',
  'endpoint-failed',
  'editor-port-taken',
  'member-id-invalid',
  'member-unknown',
  'member-in-other-folder',
  'toolset-unknown',
  'toolset-deferred',
  'grant-without-effect',
  'model-rejected',
  'model-may-refuse',
] as const;

export type ProblemCode = (typeof problemCodes)[number];
