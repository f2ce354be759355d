/**
 * Agents with entries for toolsets (G6): the file and the entry of each. Everything here is pure.
 */
import { english } from '../base/language.js';
import path from 'node:path';
import { launcherPath } from '../base/paths.js';

export interface AgentFolders {
  readonly folder: string | undefined;
  readonly home: string;
  /** The editor's folder for files of extensions, or undefined without an editor. */
  readonly globalStorage?: string | undefined;
  readonly configHome?: string | undefined;
}

/** Absolute paths. No write leaves `root`, the folder around the agent's file (S1c). */
type AgentPlace = Readonly<Record<'root' | 'file', string>>;

type Keys = Readonly<Record<string, unknown>>;

export interface Agent {
  readonly program: string;
  /** False for a file of the whole machine. */
  readonly isOfFolder: boolean;
  readonly form: 'json' | 'toml' | 'yaml';
  readonly container: 'mcpServers' | 'mcp_servers' | 'mcp';
  /** Returns undefined if the file is in the workspace folder and no folder is open. */
  readonly place: (folders: AgentFolders) => AgentPlace | undefined;
  /**
   * Returns our keys of an entry that starts `connect`. It holds no port or token; its other keys
   * are the person's.
   */
  readonly keys: (command: string, args: readonly string[]) => Keys;
  readonly trust?: string;
}

/**
 * @param files below the folder (`.`), the home folder (`~`) or a folder of the machine; the first
 * known one counts
 */
function row(
  program: string,
  files: readonly string[],
  keys: Agent['keys'],
  more: Partial<Agent> = {},
): Agent {
  const place: Agent['place'] = ({ folder, home, configHome, globalStorage }) => {
    const roots: Readonly<Record<string, string | undefined>> = {
      '.': folder,
      '~': home,
      $config: configHome,
      $storage: globalStorage,
    };
    for (const file of files) {
      const [start = '', ...names] = file.split('/');
      const root = roots[start];
      if (root) return { root, file: path.join(root, ...names) };
    }
    return undefined;
  };
  const isOfFolder = files[0]?.startsWith('./') === true;
  return {
    program,
    isOfFolder,
    form: 'json',
    container: 'mcpServers',
    place,
    keys,
    ...more,
  };
}

/** The default limit of a call. Agents with a shorter limit would give up earlier. */
const longestCallSeconds = 600;
const longestMs = longestCallSeconds * 1000;
/** `npx` may have to install the package first. */
const longestStartSeconds = 60;

const plain: Agent['keys'] = (command, args) => ({ command, args });
const typed: Agent['keys'] = (command, args) => ({
  type: 'stdio',
  command,
  args,
});
const timed: Agent['keys'] = (command, args) => ({
  command,
  args,
  timeout: longestMs,
});
const inOneList: Agent['keys'] = (command, args) => {
  return {
    type: 'local',
    command: [command, ...args],
    timeout: longestMs,
  };
};
const copilotKeys: Agent['keys'] = (command, args) => {
  return {
    type: 'local',
    command,
    args,
    tools: ['*'],
  };
};
const codexKeys: Agent['keys'] = (command, args) => ({
  ...plain(command, args),
  startup_timeout_sec: longestStartSeconds,
  tool_timeout_sec: longestCallSeconds,
});

const rows = {
  'claude-code': row('Claude Code', ['./.mcp.json'], typed, {
    trust: english`Claude Code asks you once before it starts the servers of this file.`,
  }),
  codex: row('Codex', ['./.codex/config.toml'], codexKeys, {
    form: 'toml',
    container: 'mcp_servers',
    trust: english`Codex reads this file in folders that you trust in Codex.`,
  }),
  'copilot-cli': row('Copilot CLI', ['./.github/mcp.json'], copilotKeys, {
    trust: english`Copilot CLI reads this file in folders that you trust in Copilot CLI. It reads \`.mcp.json\` too, so entries for Claude Code are enough for both.`,
  }),
  opencode: row('opencode', ['./opencode.json'], inOneList, { container: 'mcp' }),
  kilo: row('Kilo', ['$config/kilo/kilo.json', '~/.config/kilo/kilo.json'], inOneList, {
    container: 'mcp',
  }),
  'gemini-cli': row('Gemini CLI', ['./.gemini/settings.json'], timed),
  'qwen-code': row('Qwen Code', ['./.qwen/settings.json'], timed),
  cursor: row('Cursor', ['./.cursor/mcp.json'], typed),
  cline: row(
    'Cline',
    [
      '$storage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
      '~/.cline/data/settings/cline_mcp_settings.json',
    ],
    // Without `timeout`, in seconds, it gives a program three seconds to begin.
    (command, args) => ({ ...typed(command, args), timeout: longestCallSeconds }),
  ),
  continue: row('Continue', ['~/.continue/config.yaml'], typed, { form: 'yaml' }),
  windsurf: row('Windsurf', ['~/.codeium/windsurf/mcp_config.json'], plain),
  antigravity: row('Antigravity', ['~/.gemini/config/mcp_config.json'], plain),
};

export type AgentKind = keyof typeof rows;

export const agents: Readonly<Record<AgentKind, Agent>> = rows;

export const agentKinds = Object.keys(rows) as AgentKind[];

/** The words in front of `connect`. They are the same on every machine. */
export type Launcher = Readonly<{ command: string; args: readonly string[] }>;

/**
 * The start of an entry (G6c). An agent starts it in the folder of a repository, where `npx` asks
 * the folder first.
 * @param published the version of the running package, if a registry has it
 */
export function launcherFor(kind: AgentKind, home: string, published?: string): Launcher {
  if (!agents[kind].isOfFolder) return { command: 'node', args: [launcherPath(home)] };
  return published === undefined
    ? { command: 'node', args: ['-e', loadingLauncher(kind)] }
    : { command: 'npx', args: ['-y', `mcp-toolsets@${published}`] };
}

/**
 * Loads the file of `launcherFile.ts`, or prints one line. Only Node itself knows the home folder
 * on every system. No character has a meaning between the quotation marks of `cmd` or `sh`, because
 * some agents start a shell.
 */
function loadingLauncher(kind: AgentKind): string {
  const load = "require(require('os').homedir() + '/.minds/bin/mcp-toolsets.js')";
  const step = `Install it, then open this folder in VS Code or run: mcp-toolsets entries ${kind} --write`;
  // The first line of the message. The others are a stack.
  const text = `'MCP Toolsets cannot start: ' + e.message.match(/.*/) + '. ${step}'`;
  return `try { ${load} } catch (e) { process.exitCode = 1; console.error(${text}) }`;
}

/**
 * Returns our keys of an entry. Only one outside the folder holds a path, so a repository can hold
 * the file.
 * @param id the toolset, or undefined for all
 */
export function entryKeys(
  kind: AgentKind,
  id: string | undefined,
  { command, args }: Launcher,
  folder: string,
): Keys {
  const { isOfFolder, keys } = agents[kind];
  const words = isOfFolder ? ['connect'] : ['connect', '-C', folder];
  return keys(command, [...args, ...words, ...(id === undefined ? [] : [id])]);
}
