/**
 * An agent's entry for a toolset, in the form of the real program (G6). Everything here is pure.
 *
 * Invariant: no entry holds the token. Each agent fetches it when it connects, by a command, from its file or from a
 * variable.
 */
import path from 'node:path';
import { tokenVariable } from '../base/tokenVariable.js';
import type { AgentKind } from './agents.js';

export interface ServedAt {
  /** The id of the toolset. */
  readonly id: string;
  readonly url: string;
}

export interface TokenSource {
  /** The absolute path. */
  readonly tokenFile: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/** The command line for programs without knowledge of its path. */
export interface Launcher {
  readonly command: string;
  readonly args: readonly string[];
  /** The workspace folder, an absolute path. */
  readonly folder: string;
}

type Keys = Readonly<Record<string, unknown>>;

/** The default limit of a call. Agents with a shorter limit would give up earlier. */
const longestCallSeconds = 600;

/** Returns our keys of an entry. Its other keys are the person's. */
export function entryKeys(kind: AgentKind, { id, url }: ServedAt, source: TokenSource, launcher: Launcher): Keys {
  switch (kind) {
    case 'claude-code':
      // The command runs only in trusted folders. `headers` serve elsewhere.
      return {
        type: 'http',
        url,
        ...(tokenFrom(kind, source) === 'command' && { headersHelper: headersCommand(url, source, launcher) }),
        ...bearer(`\${${tokenVariable}:-}`),
      };
    case 'codex':
      return {
        url,
        ...(tokenFrom(kind, source) === 'command'
          ? { http_headers_helper: headersCommand(url, source, launcher) }
          : { bearer_token_env_var: tokenVariable }),
        tool_timeout_sec: longestCallSeconds,
      };
    case 'copilot-cli':
      return { type: 'http', url, ...bearer(`\${${tokenVariable}}`), tools: ['*'] };
    case 'opencode':
    case 'kilo':
      return {
        type: 'remote',
        url,
        ...bearer(`{file:${fileReference(source)}}`),
        oauth: false,
        timeout: longestCallSeconds * 1000,
      };
    case 'gemini-cli':
    case 'qwen-code':
      return { httpUrl: url, ...bearer(`$${tokenVariable}`), timeout: longestCallSeconds * 1000 };
    case 'cursor':
      return { url, ...bearer(`\${env:${tokenVariable}}`) };
    case 'cline':
      // Without `timeout`, in seconds, it gives a program three seconds to begin.
      return { type: 'stdio', ...connect(id, launcher), timeout: longestCallSeconds };
    case 'continue':
      return { type: 'stdio', ...connect(id, launcher) };
    case 'windsurf':
    case 'antigravity':
      return connect(id, launcher);
  }
}

/** The form for agents without variables in headers, known or assumed. */
function connect(id: string, { command, args, folder }: Launcher): Keys {
  return { command, args: [...args, 'connect', '-C', folder, id] };
}

function bearer(token: string): Keys {
  return { headers: { Authorization: `Bearer ${token}` } };
}

/** Returns the agent's way to the token. Only `variable` needs an action of the person. `connect` needs no token. */
export function tokenFrom(
  kind: AgentKind,
  { platform }: Pick<TokenSource, 'platform'>,
): 'command' | 'file' | 'variable' | 'connect' {
  // The commands are those of a POSIX shell.
  if (kind === 'claude-code' || kind === 'codex') return platform === 'win32' ? 'variable' : 'command';
  if (['cline', 'continue', 'windsurf', 'antigravity'].includes(kind)) return 'connect';
  return kind === 'opencode' || kind === 'kilo' ? 'file' : 'variable';
}

/** It shows the token only to a listener with proof of it. */
function headersCommand(url: string, source: TokenSource, { command, args }: Launcher): string {
  const words = [command, ...args].map(shellWord).join(' ');
  return `${words} headers --port ${new URL(url).port} --token-file ${shellPath(source)}`;
}

/** Returns the command for the shell of the agent. */
export function exportCommand(source: TokenSource): string {
  return source.platform === 'win32'
    ? `$env:${tokenVariable} = Get-Content '${source.tokenFile.replaceAll("'", "''")}'`
    : `export ${tokenVariable}="$(cat ${shellPath(source)})"`;
}

function shellPath(source: TokenSource): string {
  const below = belowHome(source);
  return below === undefined ? shellWord(source.tokenFile) : `"$HOME/${below}"`;
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${inQuotes(word)}'`;
}

function inQuotes(word: string): string {
  return word.replaceAll("'", `'\\''`);
}

/** True if an entry, as JSON, has a path to the token file, in shell spelling or not. */
export function namesTokenFile(entry: string, { tokenFile }: TokenSource): boolean {
  const name = tokenFile.split(/[/\\]/).at(-1) ?? '';
  return [name, inQuotes(name)].some((word) => {
    const between = entry.split(JSON.stringify(word).slice(1, -1));
    return between.some((text, index) => index > 0 && /[/\\]$/.test(between[index - 1] ?? '') && !/^[\w.-]/.test(text));
  });
}

function fileReference(source: TokenSource): string {
  const below = belowHome(source);
  return below === undefined ? source.tokenFile : `~/${below}`;
}

/** Returns the path of the token file from the home folder, if it is below and needs no quotes. */
function belowHome({ tokenFile, home, platform }: TokenSource): string | undefined {
  const below = (platform === 'win32' ? path.win32 : path.posix).relative(home, tokenFile).replaceAll('\\', '/');
  return /^[\w.-][\w./-]*$/.test(below) && !below.startsWith('..') ? below : undefined;
}
