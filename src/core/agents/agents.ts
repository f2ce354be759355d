/** Agents with entries for toolsets (G6): the file and the entry of each. Everything here is pure. */
import path from 'node:path';

export interface AgentFolders {
  readonly folder: string | undefined;
  readonly home: string;
  /** The editor's folder for files of extensions, or undefined without an editor. */
  readonly globalStorage?: string | undefined;
  readonly configHome?: string | undefined;
}

/** Absolute paths. No write leaves `root`, the folder around the agent's file (S1a). */
interface AgentPlace {
  readonly root: string;
  readonly file: string;
}

type Keys = Readonly<Record<string, unknown>>;

interface Where {
  /** False for a file of the whole machine. */
  readonly isOfFolder: boolean;
  /** Returns undefined if the file is in the workspace folder and no folder is open. */
  readonly place: (folders: AgentFolders) => AgentPlace | undefined;
}

export interface Agent extends Where {
  readonly program: string;
  readonly form: 'json' | 'toml' | 'yaml';
  readonly container: 'mcpServers' | 'mcp_servers' | 'mcp';
  /** Returns our keys of an entry that starts `connect`. It holds no port or token; its other keys are the person's. */
  readonly keys: (command: string, args: readonly string[]) => Keys;
  readonly trust?: string;
}

const below = (root: string, ...names: string[]): AgentPlace => ({ root, file: path.join(root, ...names) });

const inFolder = (...names: string[]): Where => ({
  isOfFolder: true,
  place: ({ folder }) => (folder === undefined ? undefined : below(folder, ...names)),
});

const ofMachine = (place: (folders: AgentFolders) => AgentPlace): Where => ({ isOfFolder: false, place });
const inHome = (...names: string[]): Where => ofMachine(({ home }) => below(home, ...names));

function row(program: string, where: Where, keys: Agent['keys'], more: Partial<Agent> = {}): Agent {
  return { program, form: 'json', container: 'mcpServers', ...where, keys, ...more };
}

/** The default limit of a call. Agents with a shorter limit would give up earlier. */
const longestCallSeconds = 600;
const longestCall = longestCallSeconds * 1000;
/** `npx` may have to install the package first. */
const longestStartSeconds = 60;

const plain: Agent['keys'] = (command, args) => ({ command, args });
const typed: Agent['keys'] = (command, args) => ({ type: 'stdio', command, args });
const timed: Agent['keys'] = (command, args) => ({ command, args, timeout: longestCall });
const inOneList: Agent['keys'] = (command, args) => ({
  type: 'local',
  command: [command, ...args],
  timeout: longestCall,
});

const rows = {
  'claude-code': row('Claude Code', inFolder('.mcp.json'), typed, {
    trust: 'Claude Code asks you once before it starts the servers of this file.',
  }),
  codex: row(
    'Codex',
    inFolder('.codex', 'config.toml'),
    (command, args) => ({
      command,
      args,
      startup_timeout_sec: longestStartSeconds,
      tool_timeout_sec: longestCallSeconds,
    }),
    { form: 'toml', container: 'mcp_servers', trust: 'Codex reads this file in folders that you trust in Codex.' },
  ),
  'copilot-cli': row(
    'Copilot CLI',
    inFolder('.github', 'mcp.json'),
    (command, args) => ({ type: 'local', command, args, tools: ['*'] }),
    {
      trust:
        'Copilot CLI reads this file in folders that you trust in Copilot CLI. It reads `.mcp.json` too, so entries for Claude Code are enough for both.',
    },
  ),
  opencode: row('opencode', inFolder('opencode.json'), inOneList, { container: 'mcp' }),
  kilo: row(
    'Kilo',
    ofMachine(({ configHome, home }) =>
      configHome ? below(configHome, 'kilo', 'kilo.json') : below(home, '.config', 'kilo', 'kilo.json'),
    ),
    inOneList,
    { container: 'mcp' },
  ),
  'gemini-cli': row('Gemini CLI', inFolder('.gemini', 'settings.json'), timed),
  'qwen-code': row('Qwen Code', inFolder('.qwen', 'settings.json'), timed),
  cursor: row('Cursor', inFolder('.cursor', 'mcp.json'), typed),
  cline: row(
    'Cline',
    ofMachine(({ globalStorage, home }) =>
      globalStorage === undefined
        ? below(home, '.cline', 'data', 'settings', 'cline_mcp_settings.json')
        : below(globalStorage, 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json'),
    ),
    // Without `timeout`, in seconds, it gives a program three seconds to begin.
    (command, args) => ({ type: 'stdio', command, args, timeout: longestCallSeconds }),
  ),
  continue: row('Continue', inHome('.continue', 'config.yaml'), typed, { form: 'yaml' }),
  windsurf: row('Windsurf', inHome('.codeium', 'windsurf', 'mcp_config.json'), plain),
  antigravity: row('Antigravity', inHome('.gemini', 'config', 'mcp_config.json'), plain),
};

export type AgentKind = keyof typeof rows;

export const agents: Readonly<Record<AgentKind, Agent>> = rows;

export const agentKinds = Object.keys(rows) as AgentKind[];

/** The words in front of `connect`. They are the same on every machine. */
export interface Launcher {
  readonly command: string;
  readonly args: readonly string[];
}

export function packageLauncher(version: string): Launcher {
  return { command: 'npx', args: ['-y', `mcp-toolsets@${version}`] };
}

/** Starts the file of `launcherFile.ts`. Only Node itself knows the home folder on every system. */
export const homeLauncher: Launcher = {
  command: 'node',
  args: ['-e', "require(require('os').homedir() + '/.minds/bin/mcp-toolsets.js')"],
};

/** Returns our keys of an entry. Only one outside the folder holds a path, so a repository can hold the file. */
export function entryKeys(kind: AgentKind, id: string, { command, args }: Launcher, folder: string): Keys {
  const { isOfFolder, keys } = agents[kind];
  return keys(command, [...args, 'connect', ...(isOfFolder ? [] : ['-C', folder]), id]);
}
