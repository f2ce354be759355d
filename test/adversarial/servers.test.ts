/**
 * A server that damages its messages, beside a good one. It sends messages of every kind by the ten
 * thousand, from a seed. The good server goes on answering, the loop and the heap stay within
 * bounds, and no secret is in a log or status.
 *
 *     MCP_TOOLSETS_SEED=1 npx mocha --node-option import=tsx test/adversarial/servers.test.ts
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { fixture, rawWith, type Entry } from '../support/core/configText.js';
import { keepResults } from '../support/core/keptResults.js';
import { SessionClient } from '../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../support/core/stage.js';
import { within } from '../support/core/within.js';
import { roundsOf, seedOf } from '../unit/stress/random.js';
import { assertBounded, assertKeepsSecrets, assertShownWithoutControl } from './bounds.js';

/** In each version. Half of them are for a client of the gateway. */
const messages = roundsOf(25_000);
const burst = 250;
const starts = roundsOf(40);

// The title has the seed, so each report of a failure has it.
const seed = seedOf('MCP_TOOLSETS_SEED');
describe(`a server that damages its messages, MCP_TOOLSETS_SEED=${seed}`, function () {
  this.timeout(1_800_000);
  const canary = `sk-live-${randomBytes(16).toString('hex')}`;
  let stage: Stage;

  const good = rawWith(['echo']);
  const mutant = (ownSeed: number, ...args: string[]): Entry =>
    fixture('mutant', ['--seed', String(ownSeed), ...args], {
      env: { CANARY: { env: 'THE_CANARY' } },
      transform: [{ prefix: 'm_' }],
      'truely-stateless': true,
      timeouts: { connect: '2s', call: '5s' },
    });

  /** The good server answers, whatever the other does. */
  async function goodAnswers(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) {
      assert.equal(await stage.text('good', 'echo', { text: String(turn) }), String(turn));
    }
  }

  beforeEach(async () => {
    stage = await startStage({ env: { THE_CANARY: canary }, remembers: true });
  });

  afterEach(endStages);

  for (const version of ['2025-11-25', '2026-07-28']) {
    it(`A damaging server is survived for ${messages} messages of ${version}`, async () => {
      await stage.edit({
        good,
        mutant: mutant(seed, ...(version === '2026-07-28' ? ['--modern'] : [])),
      });
      const { delivery, settled } = keepResults(stage);
      await stage.gateway({ delivery });
      const client = await SessionClient.open(stage, 'mutant', {
        capabilities: { elicitation: {}, sampling: {}, roots: {} },
        elicit: () => ({ action: 'decline' }),
        sample: (text) => ({ model: 'm', role: 'assistant', content: { type: 'text', text } }),
        roots: () => ['file:///work'],
      });
      const outcomes = new Map<string, number>();
      /** A damaged result may be refused by the client's own schema. */
      const throughGateway = async (args: object): Promise<{ kind: string }> => {
        const called = client.call('m_burst', args).then(
          () => ({ kind: 'result' }),
          (error: unknown) => ({
            kind: error instanceof Error && error.name === 'ZodError' ? 'result' : 'failed',
          }),
        );
        return await within(called, 'the answer to a client', () => stage.describe());
      };
      await assertBounded(async () => {
        for (let sent = 0; sent < messages; sent += burst) {
          // Its list may have lost the tool.
          if (!stage.publishedBy('mutant').includes('m_burst')) await stage.host.restart('mutant');
          const args = { count: burst, seed: seed + sent };
          const [outcome] = await Promise.all([
            sent % (2 * burst) === 0
              ? stage.outcome('mutant', 'm_burst', args, { onProgress: () => {} })
              : throughGateway(args),
            goodAnswers(),
          ]);
          outcomes.set(outcome.kind, (outcomes.get(outcome.kind) ?? 0) + 1);
        }
      });
      // Many calls reach it, or nothing was tried. A call that asks for input is an error without a
      // person, and a damaged error without an id answers the only call.
      const results = outcomes.get('result') ?? 0;
      assert.ok(results > (messages / burst) * 0.15, JSON.stringify([...outcomes]));
      await settled();
      assert.doesNotMatch(stage.logs.text(), /could not be handled/);
      await assertKeepsSecrets(stage, [canary], /[\\/]mutant[\\/]m_burst[\\/]/);
      assertShownWithoutControl(stage.host.snapshot);
    });
  }

  it(`A server with damaged answers about itself starts or fails, ${starts} times over`, async () => {
    await assertBounded(async () => {
      for (let start = 0; start < starts; start++) {
        await stage.edit({ good, mutant: mutant(seed + start, '--initialize') });
        assert.match(stage.server('mutant').state.kind, /^(running|failed)$/);
        await goodAnswers();
      }
    });
    await assertKeepsSecrets(stage, [canary], /^listed[\\/]/);
    assertShownWithoutControl(stage.host.snapshot);
  });
});
