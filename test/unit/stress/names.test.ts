/**
 * Names and states against Dominds' documents, and against a second reading of the rules (N4,
 * C1). Every run prints its seed; `MCP_TOOLSETS_NAMES_SEED=n` repeats it.
 */
import assert from 'node:assert/strict';
import { needsAttention } from '../../../src/core/base/problem.js';
import { parseMindsFile } from '../../../src/core/config/read/parse.js';
import { adminId, adminNames } from '../../../src/core/catalogue/admin.js';
import { noResources } from '../../../src/core/tools/catalogue.js';
import { curate } from '../../../src/core/tools/curate.js';
import { ShortNames } from '../../../src/core/tools/editorNames.js';
import { toolsAlone } from '../../../src/core/tools/features.js';
import { publish, type Candidate } from '../../../src/core/tools/registry.js';
import { testCore } from '../../support/core/testCore.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { FakeConnector, listing } from '../../support/fakes/fakeConnector.js';
import { Random, seedOf } from './random.js';
import { documentedCases } from './namesOfDominds.js';
import { readAgain, type ReadServer, type Step } from './namesReading.js';

const configurations = 6000;

describe('the documents of Dominds (C1)', () => {
  for (const { what, servers, lists, published, problems = [], states = {} } of documentedCases) {
    it(what, async () => {
      const connector = new FakeConnector();
      const { host } = testCore({ clock: new FakeClock(), connector, filteredTools: () => 'off' });
      try {
        const text = Object.entries(servers)
          .map(
            ([id, rest]) =>
              `  ${id}: { ${rest.startsWith('transport') ? '' : 'transport: stdio, '}command: ${id}, ${rest} }\n`,
          )
          .join('');
        const applied = host.setSources([
          { file: '/ws/.minds/mcp.yaml', folder: '/ws', text: `version: 1\nservers:\n${text}` },
        ]);
        for (const names of Object.values(lists))
          (await connector.nextConnect()).succeed(listing(...names));
        await applied;
        const toolsets = host.catalogue.toolsets.filter(({ id }) => id !== adminId);
        assert.deepEqual(
          toolsets.flatMap(({ id, tools }) => tools.map((tool) => `${id}/${tool.published}`)),
          published,
        );
        await new Promise((resolve) => setImmediate(resolve));
        const { snapshot } = host;
        const loud = snapshot.problems.filter(needsAttention);
        assert.deepEqual(
          loud.map(({ code, server }) => `${code} ${server}`).sort(),
          [...problems].sort(),
        );
        for (const [id, state] of Object.entries(states)) {
          assert.equal(snapshot.servers.find((server) => server.id === id)?.state.kind, state, id);
        }
      } finally {
        await host.dispose();
      }
    });
  }
});

const originals = [
  'open',
  'close',
  'x_open',
  'x_close',
  'open_2',
  'p_open',
  'a.b',
  'mcp_status',
  'status',
  'n'.repeat(60),
  'Open',
  'a*b',
  '-',
];
const patterns = [
  '*',
  'open',
  '*open',
  'open*',
  'x_*',
  '*_*',
  '*o*e*',
  'nothing',
  '',
  '  ',
  'a.b',
  'a?b',
  'a*b',
  '[x]_*',
  '*n',
  'OPEN',
  '**close',
  'x_*n',
];
const affixes = ['p_', 'x_', '_v2', '', 'mcp_', 'q'.repeat(5), '-'];

function several<T>(random: Random, from: readonly T[], most: number): T[] {
  return Array.from({ length: random.int(most + 1) }, () => random.pick(from));
}

function randomStep(random: Random): Step {
  const way = random.pick(['front', 'end', 'replace'] as const);
  if (way === 'replace') return { from: random.pick(affixes), to: random.pick(affixes) };
  return { add: random.pick(affixes), at: way };
}

function randomServers(random: Random): ReadServer[] {
  const ids = several(random, ['a', 'b', 'my_server', 'x', 'averyveryverylongid'], 4);
  return [...new Set(ids)].map((id) => ({
    id,
    enabled: random.chance(0.9),
    whitelist: random.chance(0.5) ? several(random, patterns, 3) : [],
    blacklist: random.chance(0.5) ? several(random, patterns, 3) : [],
    steps: random.chance(0.6) ? several(random, [0, 1, 2], 3).map(() => randomStep(random)) : [],
    lists: several(random, originals, 8),
  }));
}

function fileOf(servers: readonly ReadServer[]): string {
  const transform = (step: Step): object =>
    'at' in step
      ? { [step.at === 'front' ? 'prefix' : 'suffix']: step.add }
      : { prefix: { remove: step.from, add: step.to } };
  const entries = servers.map(({ id, enabled, whitelist, blacklist, steps }) => [
    id,
    {
      enabled,
      transport: 'stdio',
      command: id,
      tools: { whitelist, blacklist },
      transform: steps.map(transform),
    },
  ]);
  // JSON is YAML.
  return JSON.stringify({ version: 1, servers: Object.fromEntries(entries) as object });
}

/** Takes the product's way from the text of a file to names and problems. */
function product(servers: readonly ReadServer[]): {
  published: string[];
  refused: string[];
  problems: string[];
} {
  const file = { file: '/ws/.minds/mcp.yaml', folder: '/ws', text: fileOf(servers) };
  const parsed = parseMindsFile(file, { env: {}, directoryExists: () => true });
  assert.equal(parsed.kind, 'accepted');
  const found = [...parsed.problems];
  const refused: string[] = [];
  const short = new ShortNames().of(servers.map(({ id }) => id));
  const candidates = (parsed.kind === 'accepted' ? parsed.servers : []).flatMap(
    (server): Candidate[] => {
      assert.equal(server.kind, 'valid', JSON.stringify(parsed.problems));
      if (server.kind !== 'valid' || !server.definition.enabled) return [];
      const { definition, id } = server;
      const curation = curate(
        definition,
        listing(...(servers.find((one) => one.id === id)?.lists ?? [])),
        'off',
      );
      if (curation.kind === 'refused') {
        refused.push(id);
        return [];
      }
      found.push(...curation.problems);
      const { tools, excluded } = curation;
      const rest = {
        prompts: [],
        resources: noResources,
        features: toolsAlone,
        instructions: undefined,
        leased: true,
      };
      return [
        { id, shortName: short.get(id) ?? id, tools, excluded, ...rest, places: definition.places },
      ];
    },
  );
  const { toolsets, problems } = publish(candidates, adminNames);
  const told = [...found, ...problems].filter(
    // The first is the editor's limit, and the second counts tools of all servers. Neither is about
    // names.
    (problem) =>
      needsAttention(problem) &&
      problem.code !== 'editor-id-too-long' &&
      problem.code !== 'too-many-tools',
  );
  return {
    published: toolsets.flatMap(({ id, tools }) => tools.map((tool) => `${id}/${tool.published}`)),
    refused,
    problems: told.map(({ code, server }) => `${code} ${server}`).sort(),
  };
}

describe('a second reading of the rules for names (N4)', () => {
  it(`the product agrees with a second reading on ${configurations} random configurations`, function () {
    this.timeout(0);
    const seed = seedOf('MCP_TOOLSETS_NAMES_SEED');
    let names = 0;
    for (let run = 0; run < configurations; run++) {
      const servers = randomServers(new Random(seed + run));
      const read = readAgain(servers, adminNames);
      names += read.published.length;
      assert.deepEqual(product(servers), read, `seed ${seed + run}: ${JSON.stringify(servers)}`);
    }
    assert.ok(names > configurations, 'the configurations publish something');
  });
});
