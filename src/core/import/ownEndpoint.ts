/**
 * How an entry that leads to a toolset of ours is known (G6), in the file of any agent: it is never imported as a
 * server, which would be a server behind itself. Pure.
 */
import { tokenVariable } from '../base/tokenVariable.js';

/** The toolset that the address of an entry leads to, on whatever port of this machine. */
export function toolsetOf(entry: Readonly<Record<string, unknown>>): string | undefined {
  const url = entry['url'] ?? entry['httpUrl'] ?? entry['serverUrl'];
  if (typeof url !== 'string') return undefined;
  return /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\/mcp\/([\w-]+)\/?$/.exec(url)?.[1];
}

/** Whether an entry shows our token there: others may have an address like ours. */
export function leadsBackHere(entry: Readonly<Record<string, unknown>>): boolean {
  if (toolsetOf(entry) === undefined) return false;
  const text = JSON.stringify(entry);
  return text.includes(tokenVariable) || /\.minds[/\\]+endpoints/.test(text);
}
