/** Agents with entries for toolsets (G6): the file and the format of each. Everything here is pure. */
import path from 'node:path';

export type AgentKind =
  | 'claude-code'
  | 'codex'
  | 'copilot-cli'
  | 'opencode'
  | 'kilo'
  | 'gemini-cli'
  | 'qwen-code'
  | 'cursor'
  | 'cline'
  | 'continue'
  | 'windsurf'
  | 'antigravity';

export interface AgentFolders {
  /** The absolute path of the workspace folder, or undefined without one. */
  readonly folder: string | undefined;
  readonly home: string;
  /** The editor's folder for files of extensions, or undefined without an editor. */
  readonly globalStorage?: string | undefined;
  /** The value of `$XDG_CONFIG_HOME`. */
  readonly configHome?: string | undefined;
}

export interface Agent {
  readonly kind: AgentKind;
  /** Its name for a person. */
  readonly program: string;
  readonly form: 'json' | 'toml' | 'yaml';
  /** The key above the servers in its file. */
  readonly container: 'mcpServers' | 'mcp_servers' | 'mcp';
  /** False for a file of the whole machine. */
  readonly isOfFolder: boolean;
}

const inJson = { form: 'json', container: 'mcpServers', isOfFolder: true } as const;

export const agents: Readonly<Record<AgentKind, Agent>> = {
  'claude-code': { ...inJson, kind: 'claude-code', program: 'Claude Code' },
  codex: { ...inJson, kind: 'codex', program: 'Codex', form: 'toml', container: 'mcp_servers' },
  'copilot-cli': { ...inJson, kind: 'copilot-cli', program: 'Copilot CLI' },
  opencode: { ...inJson, kind: 'opencode', program: 'opencode', container: 'mcp' },
  kilo: { ...inJson, kind: 'kilo', program: 'Kilo', isOfFolder: false, container: 'mcp' },
  'gemini-cli': { ...inJson, kind: 'gemini-cli', program: 'Gemini CLI' },
  'qwen-code': { ...inJson, kind: 'qwen-code', program: 'Qwen Code' },
  cursor: { ...inJson, kind: 'cursor', program: 'Cursor' },
  cline: { ...inJson, kind: 'cline', program: 'Cline', isOfFolder: false },
  continue: { ...inJson, kind: 'continue', program: 'Continue', isOfFolder: false, form: 'yaml' },
  windsurf: { ...inJson, kind: 'windsurf', program: 'Windsurf', isOfFolder: false },
  antigravity: { ...inJson, kind: 'antigravity', program: 'Antigravity', isOfFolder: false },
};

export const agentKinds = Object.keys(agents) as AgentKind[];

/** Returns undefined if it is in the workspace folder and no folder is open. */
export function fileOf(kind: AgentKind, folders: AgentFolders): string | undefined {
  const { folder, home, globalStorage, configHome } = folders;
  const inFolder = (...names: string[]): string | undefined => folder && path.join(folder, ...names);
  switch (kind) {
    case 'claude-code':
      return inFolder('.mcp.json');
    case 'codex':
      return inFolder('.codex', 'config.toml');
    case 'copilot-cli':
      return inFolder('.github', 'mcp.json');
    case 'opencode':
      return inFolder('opencode.json');
    case 'gemini-cli':
      return inFolder('.gemini', 'settings.json');
    case 'qwen-code':
      return inFolder('.qwen', 'settings.json');
    case 'cursor':
      return inFolder('.cursor', 'mcp.json');
    case 'kilo':
      return path.join(configHome || path.join(home, '.config'), 'kilo', 'kilo.json');
    case 'continue':
      return path.join(home, '.continue', 'config.yaml');
    case 'windsurf':
      return path.join(home, '.codeium', 'windsurf', 'mcp_config.json');
    case 'antigravity':
      return path.join(home, '.gemini', 'config', 'mcp_config.json');
    case 'cline':
      return globalStorage === undefined
        ? path.join(home, '.cline', 'data', 'settings', 'cline_mcp_settings.json')
        : path.join(globalStorage, 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json');
  }
}

/** Returns the folder around the agent's file. Every write stays inside it (S1a). */
export function rootOf(kind: AgentKind, folders: AgentFolders): string {
  const { folder, home, globalStorage, configHome } = folders;
  const roots =
    kind === 'kilo' ? [configHome] : kind === 'cline' ? [globalStorage] : agents[kind].isOfFolder ? [folder] : [];
  return roots.find((root) => root !== undefined && root !== '') ?? home;
}
