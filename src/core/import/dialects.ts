/** How each program's entries differ from one another: names of keys, units, references. What they share is in `translate`. */
import { isObject } from '../base/isObject.js';
import type { ImportFormat } from './imported.js';
import type { ReferenceStyle } from './references.js';

interface TimeLimit {
  readonly key: string;
  readonly unitMs: 1 | 1000;
  readonly limits: 'connect' | 'call';
}

export interface Dialect {
  /** For a person. */
  readonly program: string;
  readonly references: ReferenceStyle;
  readonly timeLimits: readonly TimeLimit[];
  /** Keys that only describe or group, without a word to the person. */
  readonly silent: readonly string[];
}

const always = ['name', 'description', '$schema'];

export const dialects: Readonly<Record<ImportFormat, Dialect>> = {
  'claude-desktop': { program: 'Claude Desktop', references: 'none', timeLimits: [], silent: always },
  'claude-code': {
    program: 'Claude Code',
    references: 'shell',
    timeLimits: [{ key: 'timeout', unitMs: 1, limits: 'call' }],
    silent: always,
  },
  cursor: { program: 'Cursor', references: 'editor', timeLimits: [], silent: always },
  vscode: { program: 'VS Code', references: 'editor', timeLimits: [], silent: [...always, 'gallery', 'version'] },
  mcprc: { program: 'Kode', references: 'none', timeLimits: [], silent: always },
  codex: {
    program: 'Codex',
    references: 'none',
    timeLimits: [
      { key: 'startup_timeout_sec', unitMs: 1000, limits: 'connect' },
      { key: 'startup_timeout_ms', unitMs: 1, limits: 'connect' },
      { key: 'tool_timeout_sec', unitMs: 1000, limits: 'call' },
    ],
    // Servers get the whole environment here; variables need not be let through.
    silent: [...always, 'env_vars'],
  },
  otter: { program: 'Otter', references: 'none', timeLimits: [], silent: always },
  cline: {
    program: 'Cline or Roo',
    references: 'editor',
    timeLimits: [{ key: 'timeout', unitMs: 1000, limits: 'call' }],
    silent: always,
  },
  opencode: {
    program: 'opencode or Kilo',
    references: 'opencode',
    timeLimits: [{ key: 'timeout', unitMs: 1, limits: 'connect' }],
    silent: always,
  },
};

export const importFormats = Object.keys(dialects) as ImportFormat[];

/** By the name of the file and the folder it is in; undefined where that says nothing. */
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

/** By what is in it. */
export function formatOfContent(root: Readonly<Record<string, unknown>>): ImportFormat | undefined {
  const mcp = root['mcp'];
  if (Array.isArray(root['mcp_servers'])) return 'otter';
  if (isObject(root['mcp_servers'])) return 'codex';
  if (isObject(mcp)) return 'servers' in mcp && Array.isArray(mcp['servers']) ? 'otter' : 'opencode';
  if (isObject(root['servers'])) return 'vscode';
  if (isObject(root['projects'])) return 'claude-code';
  return isObject(root['mcpServers']) ? 'claude-code' : undefined;
}
