/**
 * Recognizes our own entries in the file of any agent (G6). Import skips them, because such a server would be behind itself.
 * Everything here is pure.
 */
import { tokenVariable } from '../base/tokenVariable.js';

/** Returns the toolset behind an entry, by its address on any port of this machine or by `connect`. */
export function toolsetOf(entry: Readonly<Record<string, unknown>>): string | undefined {
  return toolsetOfCommand(entry) ?? toolsetOfAddress(entry);
}

/** The program in front of `connect` may be any. */
function toolsetOfCommand({ args }: Readonly<Record<string, unknown>>): string | undefined {
  const [connect, flag, , id, ...rest] = Array.isArray(args) ? (args.slice(-4) as unknown[]) : [];
  return connect === 'connect' && flag === '-C' && rest.length === 0 && typeof id === 'string' ? id : undefined;
}

function toolsetOfAddress(entry: Readonly<Record<string, unknown>>): string | undefined {
  const url = entry['url'] ?? entry['httpUrl'] ?? entry['serverUrl'];
  if (typeof url !== 'string') return undefined;
  return /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\/mcp\/([\w-]+)\/?$/.exec(url)?.[1];
}

/** True if an entry shows our token there; other programs may have an address like ours. */
export function leadsBackHere(entry: Readonly<Record<string, unknown>>): boolean {
  if (toolsetOfCommand(entry) !== undefined) return true;
  if (toolsetOf(entry) === undefined) return false;
  const text = JSON.stringify(entry);
  return text.includes(tokenVariable) || /\.minds[/\\]+endpoints/.test(text);
}
