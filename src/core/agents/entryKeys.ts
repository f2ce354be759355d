/**
 * An agent's entry for a toolset, in the form of the real program (G6). Every agent starts `connect`. Everything here is
 * pure.
 *
 * Invariant: no entry holds a port or a token. An entry in a file of the folder holds no path either, so a repository can
 * hold the file.
 */
import type { AgentKind } from './agents.js';

/** The words in front of `connect`. They are the same on every machine. */
export interface Launcher {
  readonly command: string;
  readonly args: readonly string[];
}

/** For a command line from a package. */
export function packageLauncher(version: string): Launcher {
  return { command: 'npx', args: ['-y', `mcp-toolsets@${version}`] };
}

/** Starts the file of `launcherFile.ts`. Only Node itself knows the home folder on every system. */
export const homeLauncher: Launcher = {
  command: 'node',
  args: ['-e', "require(require('os').homedir() + '/.minds/bin/mcp-toolsets.js')"],
};

type Keys = Readonly<Record<string, unknown>>;

/** The default limit of a call. Agents with a shorter limit would give up earlier. */
const longestCallSeconds = 600;
/** `npx` may have to install the package first. */
const longestStartSeconds = 60;

/**
 * Returns our keys of an entry. Its other keys are the person's.
 * @param folder the absolute path of the workspace folder, for a file outside it
 */
export function entryKeys(kind: AgentKind, id: string, launcher: Launcher, folder: string | undefined): Keys {
  const { command } = launcher;
  const args = [...launcher.args, 'connect', ...(folder === undefined ? [] : ['-C', folder]), id];
  switch (kind) {
    case 'claude-code':
    case 'cursor':
    case 'continue':
      return { type: 'stdio', command, args };
    case 'codex':
      return { command, args, startup_timeout_sec: longestStartSeconds, tool_timeout_sec: longestCallSeconds };
    case 'copilot-cli':
      return { type: 'local', command, args, tools: ['*'] };
    case 'opencode':
    case 'kilo':
      return { type: 'local', command: [command, ...args], timeout: longestCallSeconds * 1000 };
    case 'gemini-cli':
    case 'qwen-code':
      return { command, args, timeout: longestCallSeconds * 1000 };
    case 'cline':
      // Without `timeout`, in seconds, it gives a program three seconds to begin.
      return { type: 'stdio', command, args, timeout: longestCallSeconds };
    case 'windsurf':
    case 'antigravity':
      return { command, args };
  }
}

/** Keys for the person's preference. They do not change the target. */
export const preferences: readonly string[] = ['timeout', 'startup_timeout_sec', 'tool_timeout_sec', 'tools'];

/** Keys of an entry with an address, as earlier versions wrote them. Beside a command, they would be another server. */
export const addressKeys: readonly string[] = [
  'url',
  'httpUrl',
  'serverUrl',
  'headers',
  'headersHelper',
  'http_headers_helper',
  'bearer_token_env_var',
  'oauth',
];
