/** Entries of a config file with a long text in place of each key and each value. */
import { describeLaunch } from '../../src/core/approval/fingerprint.js';
import { EntryReader } from '../../src/core/config/read/entryReader.js';
import { secretsOf } from '../../src/core/config/read/launchSecrets.js';
import type { ConfigDeps, ConfiguredServer } from '../../src/core/config/model.js';
import { FilePlaces } from '../../src/core/config/read/places.js';
import { readServer } from '../../src/core/config/read/server.js';
import type { MapEntry, ValueNode } from '../../src/core/yaml/valueNodes.js';

export const deps: ConfigDeps = {
  env: { SET: 'value' },
  directoryExists: () => true,
  envFile: () => ({ kind: 'text', text: 'A=b' }),
};
export const source = (
  text: string,
  name: string,
): { file: string; folder: string; text: string } => ({
  file: `/ws/${name}`,
  folder: '/ws',
  text,
});
/** A program and an address with every possible key. */
const entries = [
  {
    transport: 'stdio',
    command: 'node',
    args: [
      'a.js',
      '--token',
      { env: 'SET', prefix: 'p', suffix: 's', default: 'd' },
      { command: ['print', 'it'] },
    ],
    cwd: 'sub',
    env: { NAME: 'value', OTHER: { secret: 'NAME', default: 'x' } },
    envFile: '.env',
    manual: { content: 'How', contentFile: 'x.md' },
    timeouts: { connect: '2s' },
    tools: { whitelist: ['a*'], blacklist: ['b'], transform: [{ prefix: 'x' }] },
    transform: [{ prefix: { remove: 'a', add: 'b' } }, { suffix: 'c' }],
    prompts: { whitelist: ['a'], transform: [{ suffix: 'p' }] },
    resources: { blacklist: ['file:///*'], mimeTypes: ['text/*'] },
  },
  {
    transport: 'streamable_http',
    url: 'https://example.com/mcp?key=value',
    headers: { Authorization: { env: 'SET', prefix: 'Bearer ' }, 'X-Own': 'value' },
    oauth: {
      clientId: 'me',
      clientSecret: { secret: 'S' },
      issuer: 'https://example.com',
      scopes: ['all'],
    },
  },
];

/** Each copy of a value with the text in place of one key or one text. */
function* withTextAtEach(
  value: unknown,
  at = '',
): Generator<readonly [string, (text: string) => unknown]> {
  if (typeof value === 'string') yield [at, (text) => text];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      for (const [where, made] of withTextAtEach(item, `${at}[${index}]`)) {
        yield [where, (text) => value.with(index, made(text))];
      }
    }
  } else if (typeof value === 'object' && value !== null) {
    yield [`a key of ${at || 'the entry'}`, (text) => ({ ...value, [text]: 'x' })];
    for (const [key, inner] of Object.entries(value)) {
      for (const [where, made] of withTextAtEach(inner, at === '' ? key : `${at}.${key}`)) {
        yield [where, (text) => ({ ...value, [key]: made(text) })];
      }
    }
  }
}

/** A value as the tree from YAML and JSON. The cost of a text in the parser does not count here. */
function nodeOf(value: unknown): ValueNode {
  const span = { start: 0, end: 1 };
  if (Array.isArray(value)) return { kind: 'list', items: value.map(nodeOf), span };
  if (typeof value === 'object' && value !== null) {
    const inside = Object.entries(value).map(([key, inner]) => [key, entryOf(key, inner)] as const);
    return { kind: 'map', entries: new Map(inside), duplicates: [], badMerges: [], span };
  }
  return { kind: 'scalar', value: value as string, source: String(value), span };
}

function entryOf(key: string, value: unknown): MapEntry {
  return { key, keyIsText: true, keySpan: { start: 0, end: 1 }, value: nodeOf(value) };
}

export function readEntry(id: string, value: unknown): ConfiguredServer {
  const reader = new EntryReader(id, new FilePlaces('/ws/x', 'x'), deps, source('x', 'x'));
  const server = readServer(reader, entryOf(id, value));
  if (server.kind !== 'valid') return server;
  const { definition } = server;
  describeLaunch(definition);
  secretsOf(definition.launch);
  return server;
}

/** Readers of an entry with the text at one place, for each place in entries. */
export function entryReaders(): [string, (text: string) => unknown][] {
  const places = entries.flatMap((given) =>
    [...withTextAtEach(given)].map(([where, made]): [string, (text: string) => unknown] => [
      `${where} of an entry`,
      (text) => readEntry('a', made(text)),
    ]),
  );
  return [...places, ['the id of an entry', (text) => readEntry(text, entries[0])]];
}
