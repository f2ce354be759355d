/**
 * Applies the lists by which an organisation allows and denies MCP servers in the editor,
 * `chat.mcp.allowedServers` and `chat.mcp.deniedServers`, to the servers behind the toolsets (S1b),
 * because the editor does not see these. An entry names a server by `serverName`, `serverUrl` (with
 * `*` for any text) or `serverCommand`, as in VS Code 1.139.1. The output of a value command is
 * unknown before it runs (C2c). A server with one in a word or an address is barred by each denial
 * that can fit, and allowed only by its id.
 */
import { isObject } from '../base/isObject.js';
import type { Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import { printerOf } from '../config/launchValues.js';
import { isEnabled, literal } from '../config/model.js';
import type { ConfiguredServer, Launch, ServerDefinition, Value } from '../config/model.js';
import { compilePattern } from '../tools/patterns.js';

export interface ServerLists {
  readonly allowed: unknown;
  readonly denied: unknown;
}

export function withoutBarred(
  servers: readonly ConfiguredServer[],
  lists: ServerLists,
): { readonly servers: readonly ConfiguredServer[]; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const kept = servers.map((server): ConfiguredServer => {
    if (server.kind !== 'valid' || !isEnabled(server)) return server;
    const setting = barredBy(server.definition, lists);
    if (setting === undefined) return server;
    problems.push(serverBarred(server.definition, setting));
    return { ...server, definition: { ...server.definition, enabled: false } };
  });
  return { servers: kept, problems };
}

/** Returns the setting that bars a server. A denial counts more than an allowance. */
function barredBy(
  definition: ServerDefinition,
  { allowed, denied }: ServerLists,
): string | undefined {
  const isNamed = namingOf(definition);
  if (entriesOf(denied)?.some((entry) => isNamed(entry, true))) return 'chat.mcp.deniedServers';
  const permits = entriesOf(allowed);
  return permits && !permits.some((entry) => isNamed(entry, false))
    ? 'chat.mcp.allowedServers'
    : undefined;
}

/**
 * Returns undefined if there is no list. An entry that names a server in no way, or in two, is left
 * out.
 */
function entriesOf(list: unknown): readonly Record<string, unknown>[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const ways = ['serverName', 'serverUrl', 'serverCommand'];
  return list
    .filter(isObject)
    .filter((entry) => ways.filter((way) => entry[way] !== undefined).length === 1);
}

/**
 * @param unknown the answer if it depends on the output of a value command, or if the address is
 * too long to match
 */
type Naming = (entry: Readonly<Record<string, unknown>>, unknown: boolean) => boolean;

function namingOf({ id, launch }: ServerDefinition): Naming {
  const named = namedValues(launch);
  return ({ serverName, serverUrl, serverCommand }, unknown) => {
    if (serverName !== undefined) return serverName === id;
    if (launch.transport === 'streamable_http') {
      if (typeof serverUrl !== 'string') return false;
      return printerOf(launch.url) ? unknown : matchesUrl(serverUrl, launch.url.value, unknown);
    }
    if (!Array.isArray(serverCommand) || serverCommand.length !== named.length) return false;
    return named.every((word, index) =>
      printerOf(word) ? unknown : word.value === serverCommand[index],
    );
  };
}

/** Returns the values that an entry of a list can name. */
function namedValues(launch: Launch): readonly Value[] {
  return launch.transport === 'stdio' ? [literal(launch.command), ...launch.args] : [launch.url];
}

function matchesUrl(pattern: string, url: string, unknown: boolean): boolean {
  const address = plainUrl(url);
  if (address === undefined) return false;
  if (!pattern.includes('*')) return plainUrl(pattern)?.toLowerCase() === address.toLowerCase();
  // A pattern without a path is one for the path `/`.
  const whole = /^https?:\/\/[^/?#]*$/i.test(pattern) ? `${pattern}/` : pattern;
  const compiled = compilePattern(whole.toLowerCase());
  return address.length > compiled.longest ? unknown : compiled.matches(address.toLowerCase());
}

function plainUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, origin, pathname, search } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? origin + pathname + search : undefined;
}

function serverBarred({ id, places, launch }: ServerDefinition, setting: string): Problem {
  const isPrinted = namedValues(launch).some(printerOf);
  const names = isPrinted ? 'names it, or may name a value that a program prints' : 'names it';
  const how = setting === 'chat.mcp.deniedServers' ? names : 'does not name it';
  return problemOf('server-barred', { server: id, places }, { setting, how });
}
