/**
 * Recognizes our own entries in files of agents (G6). Import skips them: such a server would be
 * behind itself.
 */
import { tokenVariable } from '../base/tokenVariable.js';

type Entry = Readonly<Record<string, unknown>>;

const withValue: ReadonlySet<string> = new Set([
  '-C',
  '--folder',
  '--token-file',
  '--allow',
  '--ask',
  '--deny',
]);

/**
 * Reads an entry that starts `connect`. The program in front of it may be any with our name, or
 * with `-C`. Without `id`, it offers all toolsets.
 */
export function connectOf({ command, args }: Entry) {
  const words: unknown[] = [command, args ?? []].flat();
  const at = words.indexOf('connect');
  const before = words
    .slice(0, at)
    .some((word) => typeof word === 'string' && /\bmcp-toolsets\b/.test(word));
  let [id, folder]: (string | undefined)[] = [];
  for (let index = at + 1; index < words.length; index++) {
    const word = words[index];
    if (typeof word !== 'string') return undefined;
    if (withValue.has(word)) {
      index += 1;
      const value = words[index];
      if (word === '-C' || word === '--folder')
        folder = typeof value === 'string' ? value : undefined;
    } else if (!word.startsWith('-')) {
      if (id !== undefined) return undefined;
      id = word;
    }
  }
  return at >= 0 && (before || folder !== undefined) ? { id, folder } : undefined;
}

/** The address may have any port of this machine. */
export function toolsetOfAddress(entry: Entry): string | undefined {
  const url = entry['url'] ?? entry['httpUrl'] ?? entry['serverUrl'];
  if (typeof url !== 'string') return undefined;
  return /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\/mcp\/([\w-]+)\/?$/.exec(url)?.[1];
}

/**
 * True if an entry starts `connect` or shows our token there; other programs may have an address
 * like ours.
 */
export function leadsBackHere(entry: Entry): boolean {
  if (connectOf(entry) !== undefined) return true;
  if (toolsetOfAddress(entry) === undefined) return false;
  const text = JSON.stringify(entry);
  return text.includes(tokenVariable) || /\.minds[/\\]+endpoints/.test(text);
}
