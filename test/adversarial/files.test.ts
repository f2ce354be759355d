/**
 * Every reader of files gets nearly right files: a corpus, damaged by a seed. No reader throws,
 * whatever the text.
 *
 *     MCP_TOOLSETS_SEED=1 npx mocha --node-option import=tsx test/adversarial/files.test.ts
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { agentKinds } from '../../src/core/agents/agents.js';
import { parseMcprc } from '../../src/core/config/read/mcprc.js';
import { parseMindsFile } from '../../src/core/config/read/parse.js';
import { importFormats } from '../../src/core/import/dialects.js';
import { importServers } from '../../src/core/import/importServers.js';
import { parseTeam } from '../../src/core/team/team.js';
import { applyEdits } from '../../src/core/yaml/edits.js';
import { damagedText, mutated, randomOf, type Draw } from '../fixtures/servers/shared/mutate.mjs';
import { repository } from '../support/core/bundles.js';
import { roundsOf, seedOf } from '../unit/stress/random.js';
import { entriesIn } from './agentEntries.js';
import { assertNotPolluted } from './bounds.js';

const rounds = roundsOf(4_000);

/** The texts of files below a folder of `test/`. */
function corpus(folder: string, ending: RegExp): string[] {
  const root = path.join(repository, 'test', folder);
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    ending.test(name),
  );
  return names.sort().map((name) => readFileSync(path.join(root, name), 'utf8'));
}

const configDeps = { env: { SET: 'value' }, directoryExists: () => true };
const source = (text: string, name: string): { file: string; folder: string; text: string } => ({
  file: `/ws/${name}`,
  folder: '/ws',
  text,
});
const around = { folder: '/ws', home: '/home/ada' };
const jsonFiles = (): string[] => corpus('golden/import', /\.json$/);
const tomlFiles = (): string[] => corpus('golden/import', /\.toml$/);

interface Reader {
  readonly what: string;
  readonly texts: () => string[];
  readonly read: (text: string, turn: number) => void;
}

const readers: readonly Reader[] = [
  {
    what: '.minds/mcp.yaml',
    texts: () => corpus('golden/config', /\.yaml$/),
    read: (text) => {
      const parsed = parseMindsFile(source(text, '.minds/mcp.yaml'), configDeps);
      if (parsed.kind === 'refused')
        assert.ok(parsed.problems.some(({ severity }) => severity === 'error'));
    },
  },
  {
    what: '.mcprc',
    texts: () => corpus('golden/mcprc', /\.json$/),
    read: (text) => void parseMcprc(source(text, '.mcprc'), configDeps),
  },
  {
    what: '.minds/team.yaml',
    texts: () => corpus('editor/workspaces', /team\.yaml$/),
    read: (text) => void parseTeam(source(text, '.minds/team.yaml')),
  },
  {
    what: 'JSON of other programs',
    texts: jsonFiles,
    read: (text, turn) => {
      const format = importFormats[turn % importFormats.length];
      importServers({
        text,
        file: '/ws/x.json',
        format,
        existing: new Map([['a', {}]]),
        folders: around,
      });
      importServers({ text, file: '/ws/.mcp.json', folders: around });
    },
  },
  {
    what: 'TOML of other programs',
    texts: tomlFiles,
    read: (text) => void importServers({ text, file: '/ws/config.toml', folders: around }),
  },
  {
    what: 'files for the entries of other agents',
    texts: () => [...jsonFiles(), ...tomlFiles()],
    read: (text, turn) => {
      const agent = agentKinds[turn % agentKinds.length] ?? assert.fail('There is no agent.');
      const made = entriesIn(agent, text);
      if (made.kind === 'planned') assert.equal(applyEdits(text, made.edits), made.after);
    },
  },
];

/** Damages the structure if the text is JSON, else the text. */
function damaged(text: string, random: Draw): string {
  if (random() < 0.5) {
    try {
      return JSON.stringify(mutated(JSON.parse(text), random)) ?? '';
    } catch {
      // YAML, TOML, or JSON with comments.
    }
  }
  let made = text;
  for (let count = 1 + Math.floor(random() * 3); count > 0; count--)
    made = damagedText(made, random);
  return made;
}

// The title has the seed, so each report of a failure has it.
const seed = seedOf('MCP_TOOLSETS_SEED');
describe(`nearly right files, MCP_TOOLSETS_SEED=${seed}`, function () {
  this.timeout(300_000);

  for (const { what, texts, read } of readers) {
    it(`${what}: nearly right files are read without a throw`, () => {
      const all = texts();
      assert.ok(all.length > 0, 'The corpus is empty.');
      const random = randomOf(seed);
      for (let turn = 0; turn < rounds; turn++) {
        const text = damaged(all[turn % all.length] ?? '', random);
        try {
          read(text, turn);
        } catch (error) {
          const stack = error instanceof Error ? error.stack : String(error);
          assert.fail(`turn ${turn}: ${stack}\n${JSON.stringify(text.slice(0, 2_000))}`);
        }
        assertNotPolluted();
      }
    });
  }
});
