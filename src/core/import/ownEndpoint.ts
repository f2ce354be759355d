/**
 * Recognises our own entries in the files of agents (G6). An import of them would be a server behind itself. Everything
 * here is pure.
 */
import { tokenVariable } from '../base/tokenVariable.js';

/** Returns the toolset of an entry, by its address on any port of this machine or by `connect`. */
export function toolsetOf(entry: Readonly<Record<string, unknown>>): string | undefined {
  return toolsetOfCommand(entry) ?? toolsetOfAddress(entry);
}

/** The arguments are those of our entries, after any program. */
function toolsetOfCommand({ args }: Readonly<Record<string, unknown>>): string | undefined {
  const [connect, flag, , id, ...rest] = Array.isArray(args) ? (args.slice(-4) as unknown[]) : [];
  return connect === 'connect' && flag === '-C' && rest.length === 0 && typeof id === 'string' ? id : undefined;
}

function toolsetOfAddress(entry: Readonly<Record<string, unknown>>): string | undefined {
  const url = entry['url'] ?? entry['httpUrl'] ?? entry['serverUrl'];
  if (typeof url !== 'string') return undefined;
  return /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\/mcp\/([\w-]+)\/?$/.exec(url)?.[1];
}

/** True if an entry shows our token, because others may have an address like ours. */
export function leadsBackHere(entry: Readonly<Record<string, unknown>>): boolean {
  if (toolsetOfCommand(entry) !== undefined) return true;
  if (toolsetOf(entry) === undefined) return false;
  const text = JSON.stringify(entry);
  return text.includes(tokenVariable) || /\.minds[/\\]+endpoints/.test(text);
}
