/**
 * A server that damages what it sends, beside a good one: messages of every kind by the ten thousand, from a seed. The
 * good server goes on answering, the loop and the heap stay within bounds, and what is secret is in no log and no status.
 *
 *     MCP_TOOLSETS_SEED=1 npx mocha --node-option import=tsx test/adversarial/servers.test.ts
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { fixture, rawWith, type Entry } from '../support/core/configText.js';
import { heapNow, strainOf, type Strain } from '../support/core/loopDelay.js';
import { endStages, startStage, type Stage } from '../support/core/stage.js';
import { seedOf } from '../unit/stress/random.js';
import { assertKeepsSecrets, assertShownWithoutControl, assertWithinBounds } from './bounds.js';

const messages = 50_000;
const burst = 250;
const starts = 40;
/** A hold-up of the loop in the base run is a few milliseconds; the machine's own noise is of that order. */
const leastBaseMs = 10;

describe('a server that damages what it sends', function () {
  this.timeout(300_000);
  const seed = seedOf('MCP_TOOLSETS_SEED');
  const canary = `sk-live-${randomBytes(16).toString('hex')}`;
  let base: Strain;
  let heapBefore: number;
  let stage: Stage;

  const good = rawWith(['echo']);
  const mutant = (ownSeed: number, ...args: string[]): Entry =>
    fixture('mutant', ['--seed', String(ownSeed), ...args], {
      env: { CANARY: { env: 'THE_CANARY' } },
      transform: [{ prefix: 'm_' }],
      'truely-stateless': true,
      timeouts: { connect: '2s', call: '5s' },
    });

  /** The good one answers, whatever the other does. */
  async function goodAnswers(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) {
      assert.equal(await stage.text('good', 'echo', { text: String(turn) }), String(turn));
    }
  }

  before(async () => {
    stage = await startStage();
    base = await strainOf(async () => {
      await stage.edit({ good });
      for (let turn = 0; turn < 20; turn++) await goodAnswers();
    });
    await endStages();
  });

  beforeEach(async () => {
    stage = await startStage({ env: { THE_CANARY: canary } });
    heapBefore = heapNow();
  });

  afterEach(endStages);

  it(`is survived for ${messages} messages`, async () => {
    await stage.edit({ good, mutant: mutant(seed) });
    const outcomes = new Map<string, number>();
    const strain = await strainOf(async () => {
      for (let sent = 0; sent < messages; sent += burst) {
        // Its list may have lost the tool.
        if (!stage.publishedBy('mutant').includes('m_burst')) await stage.host.restart('mutant');
        const [outcome] = await Promise.all([
          stage.outcome('mutant', 'm_burst', { count: burst, seed: seed + sent }, { onProgress: () => {} }),
          goodAnswers(),
        ]);
        outcomes.set(outcome.kind, (outcomes.get(outcome.kind) ?? 0) + 1);
      }
    });
    // Most calls reach it; else nothing was tried.
    const results = outcomes.get('result') ?? 0;
    assert.ok(results > (messages / burst) * 0.6, JSON.stringify([...outcomes]));
    assertWithinBounds(strain, { base, leastBaseMs, heapBefore });
    assertKeepsSecrets(stage, [canary]);
    assertShownWithoutControl(stage.host.snapshot);
  });

  it(`starts or fails, ${starts} times over, when what it says of itself is damaged`, async () => {
    const strain = await strainOf(async () => {
      for (let start = 0; start < starts; start++) {
        await stage.edit({ good, mutant: mutant(seed + start, '--initialize') });
        assert.match(stage.server('mutant').state.kind, /^(running|failed)$/);
        await goodAnswers();
      }
    });
    assertWithinBounds(strain, { base, leastBaseMs, heapBefore });
    assertKeepsSecrets(stage, [canary]);
    assertShownWithoutControl(stage.host.snapshot);
  });
});
