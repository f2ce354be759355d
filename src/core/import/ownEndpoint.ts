/**
 * Recognises an entry that leads to a toolset of ours in the file of any agent (G6): it is never imported as a server,
 * which would be a server behind itself. Everything here is pure.
 */
import { tokenVariable } from '../base/tokenVariable.js';

/** Returns the toolset that an entry leads to, by its address on whatever port of this machine or by `connect`. */
export function toolsetOf(entry: Readonly<Record<string, unknown>>): string | undefined {
  return toolsetOfCommand(entry) ?? toolsetOfAddress(entry);
}

/** The words are those that entries of ours have, whatever the program in front of them. */
function toolsetOfCommand({ args }: Readonly<Record<string, unknown>>): string | undefined {
  const [connect, flag, , id, ...rest] = Array.isArray(args) ? (args.slice(-4) as unknown[]) : [];
  return connect === 'connect' && flag === '-C' && rest.length === 0 && typeof id === 'string' ? id : undefined;
}

function toolsetOfAddress(entry: Readonly<Record<string, unknown>>): string | undefined {
  const url = entry['url'] ?? entry['httpUrl'] ?? entry['serverUrl'];
  if (typeof url !== 'string') return undefined;
  return /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\/mcp\/([\w-]+)\/?$/.exec(url)?.[1];
}

/** Says whether an entry shows our token there, because others may have an address like ours. */
export function leadsBackHere(entry: Readonly<Record<string, unknown>>): boolean {
  if (toolsetOfCommand(entry) !== undefined) return true;
  if (toolsetOf(entry) === undefined) return false;
  const text = JSON.stringify(entry);
  return text.includes(tokenVariable) || /\.minds[/\\]+endpoints/.test(text);
}
