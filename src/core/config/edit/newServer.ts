/** Makes a new server from typed answers. Each check returns a sentence about the mistake. */
import { commandWords } from '../../base/commandWords.js';
import type { NewEntry } from './addServers.js';
import { builtInToolset } from '../model.js';

export type NewServerKind = 'command' | 'url' | 'package';

export function validateCommand(line: string): string | undefined {
  const words = commandWords(line);
  if (!words) return 'A quote is not closed.';
  if (words.length === 0)
    return 'Write the command that starts the server, for example: npx -y some-server';
  return /^https?:\/\//i.test(words[0] ?? '')
    ? 'This is a URL. Go back and choose URL.'
    : undefined;
}

export function validateUrl(text: string): string | undefined {
  const written = text.trim();
  if (written === '')
    return 'Write the address of the server, for example: https://example.com/mcp';
  if (!URL.canParse(written)) return 'This is not a complete URL.';
  const { protocol, username, password } = new URL(written);
  if (protocol !== 'http:' && protocol !== 'https:')
    return 'The URL has to begin with http:// or https://.';
  return username !== '' || password !== ''
    ? 'Leave out the password. A header can take it from a variable.'
    : undefined;
}

const packagePattern = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(?:@[\w.^~-]+)?$/;

export function validatePackage(text: string): string | undefined {
  if (text.trim() === '')
    return 'Write the name of an npm package, for example: @modelcontextprotocol/server-memory';
  return packagePattern.test(text.trim()) ? undefined : 'This is not the name of an npm package.';
}

export function validateId(id: string, taken: ReadonlySet<string>): string | undefined {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(id)) return 'Use letters, digits, - and _, at most 64 of them.';
  if (id === builtInToolset) return 'This is the id of a built-in toolset.';
  return taken.has(id) ? 'The file already has a server with this id.' : undefined;
}

export function newEntry(kind: NewServerKind, text: string): NewEntry {
  if (kind === 'url') return { transport: 'streamable_http', url: text.trim() };
  if (kind === 'package')
    return {
      transport: 'stdio',
      command: 'npx',
      args: ['-y', text.trim()],
    };
  const [command = '', ...args] = commandWords(text) ?? [];
  return {
    transport: 'stdio',
    command,
    args: args.length > 0 ? args : undefined,
  };
}

export function suggestedId(kind: NewServerKind, text: string, taken: ReadonlySet<string>): string {
  const plain = essence(kind, text)
    .replace(/^@?modelcontextprotocol\//, '')
    .replace(/(?:^|[-_/@])(?:mcp|server)(?=$|[-_/@])/gi, '-')
    .replace(/[^a-zA-Z0-9_-]+/g, '-')
    .replace(/-+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40);
  const base = plain || 'server';
  if (validateId(base, taken) === undefined) return base;
  for (let number = 2; ; number++)
    if (validateId(`${base}-${number}`, taken) === undefined) return `${base}-${number}`;
}

function essence(kind: NewServerKind, text: string): string {
  if (kind === 'url') {
    const host = URL.canParse(text.trim()) ? new URL(text.trim()).hostname : '';
    return host.replace(/^(?:www|api|mcp)\./, '').replace(/\.[a-z]+$/, '');
  }
  const version = /(?<=.)@[^@/]*$/;
  if (kind === 'package') return text.trim().replace(version, '');
  const words = (commandWords(text) ?? []).filter((word) => !word.startsWith('-'));
  const runner = /^(?:npx|uvx|bunx|node|python3?|deno|docker|sh|bash)$/.test(words[0] ?? '');
  const main = (runner ? words[1] : words[0]) ?? '';
  return main
    .replace(version, '')
    .replace(/\.[a-z]{1,4}$/, '')
    .replace(/^.*[\\/](?=[^\\/]+$)/, (path) => (main.startsWith('@') ? path : ''));
}
