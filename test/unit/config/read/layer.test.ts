/** The layer of one person, `.minds/mcp.local.yaml` (C7). */
import assert from 'node:assert/strict';
import { parse as parseYaml } from 'yaml';
import { describeLaunch } from '../../../../src/core/approval/fingerprint.js';
import type { Problem } from '../../../../src/core/base/problem.js';
import type { ConfiguredServer, SourceText } from '../../../../src/core/config/model.js';
import { joined } from '../../../../src/core/yaml/joined.js';
import { ConfigState } from '../../../../src/core/config/read/merge.js';
import { localPath } from '../../../../src/core/config/sources.js';
import { plainValue, type ValueNode } from '../../../../src/core/yaml/valueNodes.js';
import { readYaml } from '../../../../src/core/yaml/yamlTree.js';
import { Random, seedOf } from '../../stress/random.js';
import { configDeps, sourceOf } from '../fixtures.js';

type Plain = unknown;

/** The rule, read a second time: over plain values, from the leaves. */
function laidOver(below: Plain, above: Plain): Plain {
  if (!isMap(above)) return above;
  const under = isMap(below) ? below : {};
  const keys = [...new Set([...Object.keys(under), ...Object.keys(above)])];
  return Object.fromEntries(
    keys.flatMap((key) => {
      if (!Object.hasOwn(above, key)) return [[key, under[key]]];
      return above[key] === null ? [] : [[key, laidOver(under[key], above[key])]];
    }),
  );
}

function isMap(value: Plain): value is Record<string, Plain> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const keys = ['a', 'b', 'c', 'env', '__proto__', 'x y', '1'];

function randomValue(random: Random, depth: number): Plain {
  const kind = random.int(depth > 3 ? 4 : 8);
  if (kind === 0) return null;
  if (kind === 1) return random.int(3);
  if (kind === 2) return random.pick(['', 'text', 'null', '~']);
  if (kind === 3) return random.chance(0.5);
  if (kind === 4)
    return Array.from({ length: random.int(3) }, () => randomValue(random, depth + 1));
  return randomMap(random, depth);
}

function randomMap(random: Random, depth: number): Record<string, Plain> {
  const chosen = keys.filter(() => random.chance(0.4));
  return Object.fromEntries(chosen.map((key) => [key, randomValue(random, depth + 1)]));
}

const span = { start: 0, end: 0 };

function nodeOf(value: Plain): ValueNode {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(nodeOf), span };
  if (!isMap(value))
    return { kind: 'scalar', value: value as string | null, source: String(value), span };
  const entries = Object.entries(value).map(
    ([key, each]) => [key, { key, keyIsText: true, keySpan: span, value: nodeOf(each) }] as const,
  );
  return { kind: 'map', entries: new Map(entries), duplicates: [], badMerges: [], span };
}

/** A map whose values refer to anchors, alone and by merge keys. */
function yamlWithAnchors(random: Random): string {
  const lines = [`x: &one ${JSON.stringify(randomMap(random, 2))}`];
  lines.push(`y: &two { <<: *one, b: ${JSON.stringify(randomValue(random, 2))} }`);
  lines.push(`z: [*one, *two]`);
  for (const key of ['a', 'b', 'env'])
    if (random.chance(0.6))
      lines.push(
        `${key}: ${random.pick([
          '*one',
          '*two',
          '',
          'null',
          '{ <<: *two }',
          '{ <<: [*one, *two], c: null }',
          JSON.stringify(randomValue(random, 1)),
        ])}`,
      );
  return lines.join('\n');
}

const localOf = (text: string | undefined, folder = '/ws'): SourceText => ({
  file: `${folder}/${localPath}`,
  folder,
  text,
  origin: 'local',
});
const shared = `version: 1
servers:
  files:
    transport: stdio
    command: npx
    args: [files]
    env: { A: one, B: two }
    tools: { blacklist: ['write_*'] }
  web:
    transport: streamable_http
    url: https://example.com/mcp
`;

function applied(...sources: SourceText[]): {
  servers: Record<string, ConfiguredServer>;
  problems: readonly Problem[];
  refused: readonly string[];
} {
  const { model, problems: all, refused } = new ConfigState().apply(sources, configDeps);
  // Open versions (C8) are no matter of layers.
  const problems = all.filter(({ code }) => code !== 'version-not-pinned');
  return {
    servers: Object.fromEntries(model.servers.map((server) => [server.id, server])),
    problems,
    refused,
  };
}

function over(entry: string): ReturnType<typeof applied> {
  return applied(sourceOf(shared), localOf(`version: 1\nservers:\n${entry}`));
}

/** The problems as `code file:line`, with the place they name besides. */
function placesOf(problems: readonly Problem[]): string[] {
  const at = ({ file, range }: Problem['place']): string =>
    `${file.replace('/ws/.minds/', '')}:${range.start.line + 1}`;
  return problems.map(({ code, place, related }) =>
    [code, at(place), ...(related ?? []).map((one) => at(one.place))].join(' '),
  );
}

describe('the layer of one person (C7)', () => {
  const seed = seedOf('MCP_TOOLSETS_SEED');

  it(`maps are joined, other values replace, and null takes away, as a second reading says (seed ${seed})`, () => {
    const random = new Random(seed);
    for (let count = 0; count < 100_000; count++) {
      const below = randomMap(random, 0);
      const above = randomMap(random, 0);
      assert.deepEqual(
        plainValue(joined(nodeOf(below), nodeOf(above))),
        laidOver(below, above),
        JSON.stringify([below, above]),
      );
    }
  });

  it(`anchors and merge keys are resolved before the joining (seed ${seed})`, () => {
    const random = new Random(seed);
    for (let count = 0; count < 2_000; count++) {
      const [below, above] = [yamlWithAnchors(random), yamlWithAnchors(random)];
      const plain = (text: string): Plain => parseYaml(text, { merge: true }) as Plain;
      assert.deepEqual(
        plainValue(joined(readYaml(below).root, readYaml(above).root)),
        laidOver(plain(below), plain(above)),
        `${below}\n---\n${above}`,
      );
    }
  });

  it('the entry that comes out has the values of both files, and says which are of the layer', () => {
    const { servers, problems } = over(
      "  files: { env: { B: mine, C: three }, timeouts: { call: 5m }, tools: { blacklist: ['x'] }, args: [other] }\n",
    );
    assert.deepEqual(problems, []);
    const { files } = servers;
    assert.ok(files?.kind === 'valid' && files.definition.launch.transport === 'stdio');
    const { launch, tools, timeouts } = files.definition;
    assert.deepEqual(
      [...launch.env].map(([name]) => name),
      ['A', 'B', 'C'],
    );
    assert.equal(launch.args.length, 1);
    assert.deepEqual([tools.blacklist, timeouts.call], [['x'], 300_000]);
    assert.deepEqual(files.local?.keys, [
      'env.B',
      'env.C',
      'timeouts.call',
      'tools.blacklist',
      'args',
    ]);
    assert.equal(files.source, '/ws/.minds/mcp.yaml');
    assert.equal(files.places.value(['env', 'B']).file, `/ws/${localPath}`);
    assert.equal(files.places.value(['env', 'A']).file, '/ws/.minds/mcp.yaml');
    assert.equal(servers['web']?.local, undefined);
    assert.deepEqual(files.local?.listsBelow, { whitelist: [], blacklist: ['write_*'] });
  });

  it('null takes a key away, and an entry without content says nothing', () => {
    const { servers, problems } = over('  files: { env: null, tools: ~ }\n  web:\n');
    assert.deepEqual(problems, []);
    const { files, web } = servers;
    assert.ok(files?.kind === 'valid' && files.definition.launch.transport === 'stdio');
    assert.equal(files.definition.launch.env.size, 0);
    assert.deepEqual(files.definition.tools.blacklist, []);
    assert.equal(web?.kind, 'valid');
  });

  it('a server is switched off with one key', () => {
    const { servers, problems } = over('  web: { enabled: false }\n');
    assert.deepEqual(problems, []);
    assert.ok(servers['web']?.kind === 'valid' && !servers['web'].definition.enabled);
  });

  it('an entry with another id is a server of its own, with the place of a folder source', () => {
    const { servers, problems } = over(
      '  scratch: { transport: stdio, command: node, args: [scratch.mjs] }\n',
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(Object.keys(servers), ['files', 'web', 'scratch']);
    assert.ok(servers['scratch']?.kind === 'valid');
    assert.equal(servers['scratch'].source, `/ws/${localPath}`);
    const user: SourceText = { ...sourceOf(shared), file: '/home/.minds/mcp.yaml', origin: 'user' };
    const mine = 'version: 1\nservers:\n  scratch: { transport: stdio, command: node }\n';
    const ids = Object.keys(applied(localOf(mine), user).servers);
    assert.deepEqual(ids, ['scratch', 'files', 'web'], 'before those of the person (N5b)');
  });

  it('the layer lies over `.mcprc` and the own file, without `.minds/mcp.yaml` too', () => {
    const mcprc: SourceText = {
      file: '/ws/.mcprc',
      folder: '/ws',
      origin: 'mcprc',
      text: '{ "old": { "type": "stdio", "command": "npx", "args": ["old"] } }',
    };
    const user: SourceText = {
      file: '/home/.minds/mcp.yaml',
      folder: '/home',
      origin: 'user',
      text: 'version: 1\nservers:\n  own: { transport: stdio, command: npx, args: [own] }\n',
    };
    const layer =
      'version: 1\nservers:\n  old: { enabled: false }\n  own: { timeouts: { call: 2m } }\n';
    const { servers, problems } = applied(mcprc, localOf(layer), user);
    assert.deepEqual(problems, []);
    assert.ok(servers['old']?.kind === 'valid' && !servers['old'].definition.enabled);
    assert.ok(servers['own']?.kind === 'valid');
    assert.equal(servers['own'].definition.timeouts.call, 120_000);
  });

  it('an entry of the own file under a layer counts as the folder’s, because a repository could bring the layer (S1c)', () => {
    const user: SourceText = {
      file: '/home/.minds/mcp.yaml',
      folder: '/home',
      origin: 'user',
      text: 'version: 1\nservers:\n  own: { transport: stdio, command: npx, args: [own] }\n',
    };
    const { servers } = applied(
      localOf('version: 1\nservers:\n  own: { env: { NODE_OPTIONS: --import=./x.mjs } }\n'),
      user,
    );
    const { own } = servers;
    assert.ok(own?.kind === 'valid' && own.definition.launch.transport === 'stdio');
    assert.equal(own.source, `/ws/${localPath}`);
    assert.notEqual(own.origin, 'user');
    assert.equal(describeLaunch(own.definition).source, `/ws/${localPath}`);
    assert.equal(own.definition.launch.isPersons, undefined);
  });

  it('the layer of another folder lies over nothing here', () => {
    const { servers, problems } = applied(
      sourceOf(shared),
      localOf('version: 1\nservers:\n  files: { enabled: false }\n', '/other'),
    );
    assert.ok(servers['files']?.kind === 'valid' && servers['files'].definition.enabled);
    assert.deepEqual(
      problems.map(({ code, instead }) => [code, instead]),
      [['local-entry-alone', undefined]],
    );
  });

  it('a problem is at the value that causes it, in the file that has the value', () => {
    const cases: [layer: string, ...expected: string[]][] = [
      ['  files: { timeouts: { call: soon } }\n', 'duration-invalid mcp.local.yaml:3 mcp.yaml:3'],
      ['  files:\n    command: null\n', 'missing-key mcp.local.yaml:4 mcp.yaml:3'],
      [
        '  web:\n    transport: stdio\n',
        'key-not-for-transport mcp.local.yaml:4 mcp.yaml:11',
        'missing-key mcp.local.yaml:4 mcp.yaml:9',
      ],
      ['  files: { enviroment: { A: b } }\n', 'unknown-key mcp.local.yaml:3 mcp.yaml:3'],
    ];
    for (const [layer, ...expected] of cases)
      assert.deepEqual(placesOf(over(layer).problems).sort(), expected.sort(), layer);
  });

  it('a problem of the shared file stays there', () => {
    const wrong = shared.replace('args: [files]', 'args: 7');
    const layer = localOf('version: 1\nservers:\n  files: { timeouts: { call: 5m } }\n');
    assert.deepEqual(placesOf(applied(sourceOf(wrong), layer).problems), ['wrong-type mcp.yaml:6']);
  });

  it('an entry that belongs to no server and lacks `transport` says so, with the nearest id', () => {
    const { servers, problems } = over('  filse: { enabled: false }\n');
    assert.deepEqual(Object.keys(servers), ['files', 'web']);
    assert.deepEqual(placesOf(problems), ['local-entry-alone mcp.local.yaml:3']);
    assert.match(problems[0]?.fix ?? '', /`files`/);
  });

  it('a mistake of the whole layer costs the layer alone, and its last good text stays', () => {
    const state = new ConfigState();
    const off = 'version: 1\nservers:\n  files: { enabled: false }\n';
    const enabled = (below: string, layer: string | undefined): boolean => {
      const { model } = state.apply([sourceOf(below), localOf(layer)], configDeps);
      const found = model.servers.find(({ id }) => id === 'files');
      return found?.kind === 'valid' && found.definition.enabled;
    };
    assert.equal(enabled(shared, 'version: 1\nservers: ['), true, 'never valid: nothing changes');
    assert.equal(enabled(shared, off), false);
    const { refused, problems } = state.apply(
      [sourceOf(shared), localOf('\n\nversion: 1\nservers: [')],
      configDeps,
    );
    assert.deepEqual(refused, [`/ws/${localPath}`]);
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['yaml-syntax'],
    );
    assert.equal(enabled(shared, 'servers: ['), false, 'the last good text');
    assert.equal(
      enabled('version: 1\nservers: [', off),
      false,
      'the shared file has its last good text',
    );
    assert.equal(enabled('version: 1\nservers: [', undefined), true, 'the layer is gone');
  });

  it('the limit of instances of the layer decides', () => {
    const { model } = new ConfigState().apply(
      [sourceOf(`maxInstances: 5\n${shared}`), localOf('version: 1\nmaxInstances: 9\n')],
      configDeps,
    );
    assert.equal(model.limit?.most, 9);
  });
});
