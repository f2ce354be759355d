/**
 * Config files for tests: entries as plain values, and entries of this repository's own servers.
 */
import path from 'node:path';
import { stringify } from 'yaml';
import { fixturePath, repository } from './bundles.js';

export type Entry = Readonly<Record<string, unknown>>;
export type Servers = Readonly<Record<string, Entry>>;

export function configText(servers: Servers): string {
  return stringify({ version: 1, servers }, { lineWidth: 0 });
}

/** A server of test/fixtures/servers over stdio. */
export function fixture(name: string, args: readonly string[] = [], rest: Entry = {}): Entry {
  return nodeServer(fixturePath(name), args, rest);
}

/** `raw` with these tools only, the quickest server. */
export function rawWith(tools: readonly string[], rest: Entry = {}): Entry {
  return fixture('raw', ['--tools', tools.join(',')], rest);
}

/** One server runs, one is disabled, and one fails. */
export const several: Servers = {
  good: rawWith(['echo', 'add', 'fail', 'throw', 'slow'], {
    tools: { blacklist: ['add'] },
    transform: [{ prefix: 'good_' }],
  }),
  off: rawWith(['count'], { enabled: false }),
  bad: fixture('exits'),
};

/** One of the servers of the protocol's own project. */
export function officialServer(
  name: 'everything' | 'filesystem' | 'memory',
  args: readonly string[] = [],
  rest: Entry = {},
): Entry {
  return nodeServer(officialPath(name), args, rest);
}

export function officialPath(name: 'everything' | 'filesystem' | 'memory'): string {
  return path.join(repository, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
}

export function http(url: string, rest: Entry = {}): Entry {
  return { transport: 'streamable_http', url, ...rest };
}

function nodeServer(script: string, args: readonly string[], rest: Entry): Entry {
  return { transport: 'stdio', command: process.execPath, args: [script, ...args], ...rest };
}
