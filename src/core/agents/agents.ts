/**
 * Agents that can be given entries for toolsets (G6): where each keeps its MCP servers, and how it writes one that is
 * reached over HTTP. Pure.
 *
 * Invariant: no entry holds the token. Each agent fetches it when it connects, by a command or from a variable.
 */
import path from 'node:path';
import { tokenVariable } from '../import/ownEndpoint.js';

export type AgentKind = 'claude-code' | 'codex' | 'cursor' | 'cline';

export interface Surroundings {
  /** The absolute path of the workspace folder; it is undefined where none is open. */
  readonly folder: string | undefined;
  readonly home: string;
  /** The folder in which extensions of the editor keep their files; it is undefined where there is no editor. */
  readonly globalStorage?: string | undefined;
  /** `$CODEX_HOME`. */
  readonly codexHome?: string | undefined;
}

type EntryForm = 'json' | 'toml';

export interface Agent {
  readonly kind: AgentKind;
  /** Its name for a person. */
  readonly program: string;
  readonly form: EntryForm;
  /** The key under which its file has its servers. */
  readonly container: 'mcpServers' | 'mcp_servers';
  /** Says whether the editor reads its file too, where a server with a toolset's name would take the toolset's place. */
  readonly readByEditor: boolean;
}

export const agents: Readonly<Record<AgentKind, Agent>> = {
  'claude-code': {
    kind: 'claude-code',
    program: 'Claude Code',
    form: 'json',
    container: 'mcpServers',
    readByEditor: true,
  },
  codex: { kind: 'codex', program: 'Codex', form: 'toml', container: 'mcp_servers', readByEditor: false },
  cursor: { kind: 'cursor', program: 'Cursor', form: 'json', container: 'mcpServers', readByEditor: true },
  cline: { kind: 'cline', program: 'Cline', form: 'json', container: 'mcpServers', readByEditor: false },
};

export const agentKinds = Object.keys(agents) as AgentKind[];

/** Returns undefined where it keeps them in a folder and none is open. */
export function fileOf(kind: AgentKind, surroundings: Surroundings): string | undefined {
  const { folder, home, globalStorage, codexHome } = surroundings;
  switch (kind) {
    case 'claude-code':
      return folder && path.join(folder, '.mcp.json');
    case 'cursor':
      return folder && path.join(folder, '.cursor', 'mcp.json');
    case 'codex':
      return path.join(codexHome || path.join(home, '.codex'), 'config.toml');
    case 'cline':
      return globalStorage === undefined
        ? path.join(home, '.cline', 'data', 'settings', 'cline_mcp_settings.json')
        : path.join(globalStorage, 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json');
  }
}

/** A change of one entry of an agent's file. */
export interface EntryChange {
  readonly name: string;
  /** Its keys that are ours. */
  readonly keys: Readonly<Record<string, unknown>>;
  /** If false, the keys are set in the entry that is there. */
  readonly isNew: boolean;
}

export interface TokenSource {
  /** The absolute path. */
  readonly tokenFile: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/** Returns the keys of an entry that are ours; its other keys are the person's. */
export function entryKeys(kind: AgentKind, url: string, source: TokenSource): Readonly<Record<string, unknown>> {
  switch (kind) {
    case 'claude-code':
      return usesCommand(kind, source)
        ? { type: 'http', url, headersHelper: headersCommand(source) }
        : { type: 'http', url, headers: { Authorization: `Bearer \${${tokenVariable}}` } };
    case 'cursor':
      return { url, headers: { Authorization: `Bearer \${env:${tokenVariable}}` } };
    case 'cline':
      return { type: 'streamableHttp', url, headers: { Authorization: `Bearer \${env:${tokenVariable}}` } };
    case 'codex':
      return { url, bearer_token_env_var: tokenVariable };
  }
}

/** Says whether the agent fetches the token by itself, with a command of a POSIX shell. */
export function usesCommand(kind: AgentKind, { platform }: Pick<TokenSource, 'platform'>): boolean {
  return kind === 'claude-code' && platform !== 'win32';
}

function headersCommand(source: TokenSource): string {
  return `printf '{"Authorization":"Bearer %s"}' "$(cat ${shellPath(source)})"`;
}

/** Returns the command for the shell in which a person starts an agent. */
export function exportCommand(source: TokenSource): string {
  return source.platform === 'win32'
    ? `$env:${tokenVariable} = Get-Content '${source.tokenFile.replaceAll("'", "''")}'`
    : `export ${tokenVariable}="$(cat ${shellPath(source)})"`;
}

function shellPath({ tokenFile, home }: TokenSource): string {
  const below = path.posix.relative(home, tokenFile);
  if (/^[\w.-][\w./-]*$/.test(below) && !below.startsWith('..')) return `"$HOME/${below}"`;
  return `'${tokenFile.replaceAll("'", `'\\''`)}'`;
}
