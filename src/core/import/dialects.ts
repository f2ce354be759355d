/** The differences between programs' entries: names of keys, units, references. `translate` has the common part. */
import { isObject } from '../base/isObject.js';
import type { ImportFormat } from './imported.js';
import type { ReferenceStyle } from './references.js';

interface TimeLimit {
  readonly key: string;
  readonly unitMs: 1 | 1000;
  readonly limits: 'connect' | 'call';
}

export interface Dialect {
  /** Its name for a person. */
  readonly program: string;
  readonly references: ReferenceStyle;
  readonly timeLimits: readonly TimeLimit[];
  /** Descriptive keys. */
  readonly descriptive: readonly string[];
  /** Keys with names of inherited variables. Here a server inherits all. */
  readonly passedOn: readonly string[];
}

const always = { descriptive: ['name', 'title', 'description', '$schema'], passedOn: [] };

export const dialects: Readonly<Record<ImportFormat, Dialect>> = {
  'claude-desktop': { program: 'Claude Desktop', references: 'none', timeLimits: [], ...always },
  'claude-code': {
    program: 'Claude Code',
    references: 'shell',
    timeLimits: [{ key: 'timeout', unitMs: 1, limits: 'call' }],
    ...always,
  },
  cursor: { program: 'Cursor', references: 'editor', timeLimits: [], ...always },
  vscode: {
    program: 'VS Code',
    references: 'editor',
    timeLimits: [],
    ...always,
    descriptive: [...always.descriptive, 'gallery', 'version'],
  },
  mcprc: { program: 'Kode', references: 'none', timeLimits: [], ...always },
  codex: {
    program: 'Codex',
    references: 'none',
    timeLimits: [
      { key: 'startup_timeout_sec', unitMs: 1000, limits: 'connect' },
      { key: 'startup_timeout_ms', unitMs: 1, limits: 'connect' },
      { key: 'tool_timeout_sec', unitMs: 1000, limits: 'call' },
    ],
    ...always,
    passedOn: ['env_vars'],
  },
  otter: { program: 'Otter', references: 'none', timeLimits: [], ...always },
  cline: {
    program: 'Cline or Roo',
    references: 'editor',
    timeLimits: [{ key: 'timeout', unitMs: 1000, limits: 'call' }],
    ...always,
  },
  opencode: {
    program: 'opencode or Kilo',
    references: 'opencode',
    timeLimits: [{ key: 'timeout', unitMs: 1, limits: 'connect' }],
    ...always,
  },
};

export const importFormats = Object.keys(dialects) as ImportFormat[];

/** Recognises the format by the names of the file and its folder, or returns undefined. */
export function formatOfPath(file: string): ImportFormat | undefined {
  const path = file.replaceAll('\\', '/').toLowerCase();
  const known: readonly (readonly [RegExp, ImportFormat])[] = [
    [/claude_desktop_config\.json$/, 'claude-desktop'],
    [/\/?\.claude\.json$/, 'claude-code'],
    [/(?:^|\/)\.cursor\/mcp\.json$/, 'cursor'],
    [/(?:^|\/)\.(?:kilocode|roo)\/mcp\.json$/, 'cline'],
    [/(?:cline_mcp_settings|mcp_settings)\.json$/, 'cline'],
    [/(?:^|\/)\.vscode\/mcp\.json$|\/user\/mcp\.json$/, 'vscode'],
    [/(?:^|\/)\.mcp\.json$/, 'claude-code'],
    [/(?:^|\/)\.mcprc$/, 'mcprc'],
    [/(?:^|\/)(?:opencode|kilo)\.jsonc?$/, 'opencode'],
    [/(?:^|\/)\.codex\/.*\.toml$/, 'codex'],
    [/(?:^|\/)otter\/.*\.toml$/, 'otter'],
  ];
  return known.find(([pattern]) => pattern.test(path))?.[1];
}

/** Recognises the format by the file's content. */
export function formatOfContent(root: Readonly<Record<string, unknown>>): ImportFormat | undefined {
  const { mcp } = root;
  if (Array.isArray(root['mcp_servers'])) return 'otter';
  if (isObject(root['mcp_servers'])) return 'codex';
  if (isObject(mcp) && Array.isArray(mcp['servers'])) return 'otter';
  // The settings of VS Code have `mcp.servers`; a server of opencode could be named so, and has a command or a URL itself.
  if (isObject(mcp) && isObject(mcp['servers']))
    return Object.values(mcp['servers']).every(isObject) ? 'vscode' : 'opencode';
  if (isObject(mcp)) return 'opencode';
  if (isObject(root['servers'])) return 'vscode';
  if (isObject(root['projects']) || isObject(root['mcpServers'])) return 'claude-code';
  return Object.values(root).some(looksLikeServer) ? 'claude-code' : undefined;
}

/** True if a value could be a server of any program. */
export function looksLikeServer(value: unknown): boolean {
  return isObject(value) && ['command', 'url', 'serverUrl', 'httpUrl'].some((key) => key in value);
}
