/**
 * The table of programs (C6a). Import guesses nothing beyond the row of a program, but names the
 * key in the report.
 */
import path from 'node:path';
import { asFields, isObject, type Fields } from '../base/isObject.js';
import { escapeRegExp } from '../base/text.js';
import type { Syntax } from '../config/foreignReferences.js';

export type Table = Fields;

type TimeLimit = Readonly<{
  key: string;
  unitMs: 1 | 1000;
  limits: 'connect' | 'call';
}>;

export interface Dialect {
  readonly program: string;
  /**
   * In the workspace (`./`), at home (`~/`), in a folder of the machine (`$…/`) or anywhere. `*`
   * begins a name.
   */
  readonly files: readonly string[];
  /** The keys above the servers. `/` separates nested keys. */
  readonly at: readonly string[];
  readonly references: readonly Syntax[];
  readonly timeLimits: readonly TimeLimit[];
  /** True if a server with a command and a URL is reached at the URL. */
  readonly prefersUrl: boolean;
  /** True for a file with other settings too. Keys next to the servers get no note then. */
  readonly hasSettings: boolean;
  /**
   * Keys outside the servers, nested by `/`, that limit their tools or times and have no
   * counterpart.
   */
  readonly beside: readonly string[];
}

const editor: readonly Syntax[] = ['${env:NAME}'];
const shell: readonly Syntax[] = ['${env:NAME}', '${NAME}'];
const dollar: readonly Syntax[] = [...shell, '$NAME'];
const every: readonly Syntax[] = [...dollar, '{env:NAME}', '{{ NAME }}', '%NAME%'];

const milliseconds = (key: string, limits: TimeLimit['limits']): TimeLimit => ({
  key,
  unitMs: 1,
  limits,
});
const seconds = (key: string, limits: TimeLimit['limits']): TimeLimit => ({
  key,
  unitMs: 1000,
  limits,
});

/** A row without `references` accepts every syntax, because the program documents none. */
function row(program: string, files: readonly string[], more: Partial<Dialect> = {}): Dialect {
  const usual = {
    references: every,
    timeLimits: [],
    prefersUrl: false,
    hasSettings: false,
    beside: [],
  };
  return {
    program,
    files,
    at: ['mcpServers', 'servers'],
    ...usual,
    ...more,
  };
}

const ofTools = [
  'tools/core',
  'tools/allowed',
  'tools/exclude',
  'coreTools',
  'allowedTools',
  'excludeTools',
];
const besideGemini = [...ofTools, 'permissions', 'policyPaths'];

const settings = { hasSettings: true } as const;
const callMs = { timeLimits: [milliseconds('timeout', 'call')] } as const;
const callSeconds = { timeLimits: [seconds('timeout', 'call')] } as const;
const gemini = {
  ...settings,
  beside: besideGemini,
  prefersUrl: true,
  references: dollar,
  ...callMs,
};

export const dialects = {
  'claude-desktop': row(
    'Claude Desktop',
    ['$programs/Claude/claude_desktop_config.json', 'claude_desktop_config.json'],
    { ...settings, references: [] },
  ),
  'claude-code': row('Claude Code', ['./.mcp.json', '~/.claude.json'], {
    references: shell,
    ...callMs,
  }),
  cursor: row('Cursor', ['./.cursor/mcp.json', '~/.cursor/mcp.json'], { references: editor }),
  vscode: row('VS Code', ['./.vscode/mcp.json', '$user/mcp.json', 'User/profiles/*/mcp.json'], {
    at: ['servers', 'mcpServers', 'mcp/servers', 'mcp/mcpServers'],
    references: editor,
  }),
  'vscode-settings': row(
    'VS Code settings, workspaces and dev containers',
    [
      '.vscode/settings.json',
      'User/settings.json',
      '*.code-workspace',
      '*devcontainer.json',
      'devcontainer-feature.json',
    ],
    {
      ...settings,
      at: [
        'mcp/servers',
        'settings/mcp/servers',
        'customizations/vscode/mcp/servers',
        'customizations/vscode/settings/mcp/servers',
      ],
      references: editor,
    },
  ),
  'visual-studio': row('Visual Studio', ['./.vs/mcp.json'], { references: editor }),
  mcprc: row('Kode', ['.mcprc'], { references: [] }),
  codex: row('Codex', ['./.codex/config.toml', '~/.codex/config.toml', '.codex/*.toml'], {
    ...settings,
    at: ['mcp_servers'],
    references: [],
    timeLimits: [
      seconds('startup_timeout_sec', 'connect'),
      milliseconds('startup_timeout_ms', 'connect'),
      seconds('tool_timeout_sec', 'call'),
    ],
  }),
  otter: row('Otter', ['$config/otter/config.toml', 'otter/*.toml'], {
    ...settings,
    at: ['mcp_servers', 'mcp/servers'],
    references: [],
  }),
  cline: row(
    'Cline or Roo',
    [
      './.roo/mcp.json',
      '.kilocode/mcp.json',
      '~/.cline/data/settings/cline_mcp_settings.json',
      '$user/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
      '$user/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json',
      '$user/globalStorage/kilocode.kilo-code/settings/mcp_settings.json',
      'cline_mcp_settings.json',
      'mcp_settings.json',
    ],
    { references: editor, ...callSeconds },
  ),
  opencode: row(
    'opencode or Kilo',
    ['./', '$config/opencode/', '$config/kilo/'].flatMap((folder) =>
      ['opencode.json', 'opencode.jsonc', 'kilo.json', 'kilo.jsonc'].map((name) => folder + name),
    ),
    {
      ...settings,
      // The second format has `servers` below `mcp`.
      at: ['mcp/servers', 'mcp'],
      references: ['{env:NAME}'],
      beside: ['permission', 'permissions', 'mcp/timeout'],
      timeLimits: [
        milliseconds('timeout', 'connect'),
        milliseconds('timeout.startup', 'connect'),
        milliseconds('timeout.request', 'call'),
      ],
    },
  ),
  'gemini-cli': row('Gemini CLI', ['./.gemini/settings.json', '~/.gemini/settings.json'], gemini),
  'qwen-code': row('Qwen Code', ['./.qwen/settings.json', '~/.qwen/settings.json'], gemini),
  'copilot-cli': row(
    'Copilot CLI',
    ['./.github/mcp.json', '~/.copilot/mcp-config.json', 'mcp-config.json'],
    {
      references: dollar,
      ...callMs,
    },
  ),
  windsurf: row(
    'Windsurf',
    ['~/.codeium/windsurf/mcp_config.json', './.windsurf/mcp.json', 'mcp_config.json'],
    {
      references: editor,
    },
  ),
  antigravity: row('Antigravity', [
    '~/.gemini/config/mcp_config.json',
    '~/.gemini/antigravity/mcp_config.json',
  ]),
  zed: row('Zed', ['./.zed/settings.json', '$config/zed/settings.json'], {
    ...settings,
    at: ['context_servers'],
    ...callSeconds,
    beside: ['context_server_timeout', 'agent/tool_permissions'],
  }),
  continue: row(
    'Continue',
    [
      '~/.continue/config.yaml',
      '~/.continue/config.json',
      '.continue/mcpServers/*',
      '.continue/*.yaml',
    ],
    {
      ...settings,
      at: ['mcpServers', 'experimental/modelContextProtocolServers'],
      references: ['{{ NAME }}', ...shell],
      timeLimits: [milliseconds('connectionTimeout', 'connect')],
    },
  ),
  goose: row(
    'Goose',
    ['$config/goose/config.yaml', '$programs/Block/goose/config/config.yaml', 'goose/*.yaml'],
    {
      ...settings,
      at: ['extensions'],
      references: dollar,
      ...callSeconds,
    },
  ),
  librechat: row('LibreChat', ['./librechat.yaml'], {
    ...settings,
    references: ['{{ NAME }}', ...shell],
    timeLimits: [milliseconds('timeout', 'call'), milliseconds('initTimeout', 'connect')],
    beside: ['mcpSettings'],
  }),
  amp: row('Amp', ['./.amp/settings.json', '$config/amp/settings.json'], {
    ...settings,
    at: ['amp.mcpServers'],
    references: dollar,
    beside: ['amp.mcpPermissions', 'amp.permissions'],
  }),
  kiro: row('Kiro', ['./.kiro/settings/mcp.json', '~/.kiro/settings/mcp.json'], {
    references: shell,
  }),
  'amazon-q': row(
    'Amazon Q',
    ['./.amazonq/', '~/.aws/amazonq/']
      .flatMap((folder) =>
        ['mcp.json', 'default.json', 'agents/default.json'].map((name) => folder + name),
      )
      .concat('cli-agents/*.json'),
    {
      ...settings,
      references: shell,
      ...callMs,
      beside: ['tools', 'allowedTools', 'toolAliases', 'toolsSettings'],
    },
  ),
  junie: row('Junie', ['./.junie/mcp/mcp.json', '~/.junie/mcp/mcp.json']),
  trae: row('Trae', [
    './.trae/mcp.json',
    '$programs/Trae/User/mcp.json',
    '$programs/Trae CN/User/mcp.json',
  ]),
  warp: row('Warp', ['./.warp/.mcp.json', '~/.warp/.mcp.json']),
  crush: row('Crush', ['./crush.json', './.crush.json', '$config/crush/crush.json'], {
    ...settings,
    at: ['mcp'],
    references: dollar,
    timeLimits: [seconds('timeout', 'connect')],
    beside: ['permissions', 'options/disabled_tools'],
  }),
} as const satisfies Readonly<Record<string, Dialect>>;

export type ImportFormat = keyof typeof dialects;

export const importFormats = Object.keys(dialects) as ImportFormat[];

/** The row for any other program: every syntax of references counts, and no number has a unit. */
export const unknownProgram = row('another program', [], {
  ...settings,
  // The first key with servers counts: Gemini CLI has other settings in `mcp`, next to
  // `mcpServers`.
  at: [
    'mcpServers',
    'amp.mcpServers',
    'context_servers',
    'mcp_servers',
    'servers',
    ...dialects['vscode-settings'].at,
    'mcp/mcpServers',
    'extensions',
    'experimental/modelContextProtocolServers',
    'mcp',
  ],
});

export function formatOfPath(file: string): ImportFormat | undefined {
  const whole = file.replaceAll('\\', '/');
  const found = importFormats.flatMap((format) =>
    dialects[format].files.flatMap((known) => {
      const end = known.replace(/^(?:[.~]|\$config|\$programs)\//, '').replace('$user', 'User');
      const pattern = new RegExp(`(?:^|/)${escapeRegExp(end).replace('\\*', '[^/]*')}$`, 'i');
      return pattern.test(whole) ? [{ format, length: end.length }] : [];
    }),
  );
  return found.sort((a, b) => b.length - a.length)[0]?.format;
}

export function formatOfContent(root: Table): ImportFormat | undefined {
  const { mcp } = root;
  if (Array.isArray(root['mcp_servers']) || Array.isArray(asFields(mcp)['servers'])) return 'otter';
  if (isObject(root['projects'])) return 'claude-code';
  if (isObject(root['mcpServers'])) return undefined;
  if (isObject(root['mcp_servers'])) return 'codex';
  if (isObject(root['context_servers'])) return 'zed';
  if (isObject(root['amp.mcpServers'])) return 'amp';
  const types = Object.values(asFields(mcp)).map((entry) => asFields(entry)['type']);
  return types.some((type) => type === 'local' || type === 'remote') ? 'opencode' : undefined;
}

export function looksLikeServer(value: unknown): boolean {
  return (
    isObject(value) &&
    ['command', 'cmd', 'url', 'serverUrl', 'httpUrl', 'uri'].some((key) => key in value)
  );
}

/** All paths are absolute, and `folders` are those of the workspace. */
interface Machine extends Readonly<Record<'appData' | 'configHome', string | undefined>> {
  readonly folders: readonly string[];
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

const editors = ['Code', 'Code - Insiders', 'Cursor', 'VSCodium'];

/**
 * True if the editor starts the servers of a file too. It prefers them to toolsets of the same name
 * (G3i).
 */
export function isOfEditor(file: string, folders: readonly string[]): boolean {
  return (
    formatOfPath(file) === 'vscode' ||
    /(?:\.code-workspace|devcontainer\.json)$/i.test(file) ||
    folders.some((folder) => file === path.join(folder, '.mcp.json'))
  );
}

/** Returns the files. The files of the workspace come first. */
export function knownFiles({ folders, home, platform, appData, configHome }: Machine): string[] {
  const config = configHome ?? path.join(home, '.config');
  const onWindows = platform === 'win32' ? (appData ?? path.join(home, 'AppData/Roaming')) : config;
  const programs =
    platform === 'darwin' ? path.join(home, 'Library/Application Support') : onWindows;
  // A remote editor has the files of its user in the last one.
  const ofEditors = editors.map((name) => path.join(programs, name));
  const users = [...ofEditors, path.join(home, '.vscode-server/data')].map((each) =>
    path.join(each, 'User'),
  );
  const bases = {
    './': folders,
    '~/': [home],
    '$programs/': [programs],
    '$user/': users,
    '$config/': [config],
  };
  const files = Object.values<Dialect>(dialects).flatMap((dialect) => dialect.files);
  return Object.entries(bases).flatMap(([start, inFolders]) => {
    const names = files
      .filter((file) => file.startsWith(start))
      .map((file) => file.slice(start.length));
    return inFolders.flatMap((folder) => names.map((name) => path.join(folder, name)));
  });
}
