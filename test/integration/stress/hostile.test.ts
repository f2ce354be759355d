/**
 * Servers that hang, flood and lie (S2, X), each beside a good server. The good server goes on
 * answering. The event loop stays responsive compared with a run of only the good server. Memory is
 * bounded, the message names the cause, and nothing is left at the end. A flood lasts for a fixed
 * number of answered calls of the good server.
 */
import assert from 'node:assert/strict';
import { fixture, http, rawWith, type Entry } from '../../support/core/configText.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';
import { itNotHere } from '../../support/notHere.js';
import { heapNow, strainOf, type Strain } from '../../support/core/loopDelay.js';

const megabytes = 1024 * 1024;
const callsWatched = 100;
/**
 * The base run holds up the loop for a few milliseconds, about as long as the noise of the machine.
 */
const leastBase = 10;
const worseThanBase = 25;

interface Hostile {
  readonly what: string;
  readonly trait: string;
  /** The fixture with this flood of its event stream. */
  readonly over?: 'http' | 'legacy-sse';
  readonly args?: readonly string[];
  readonly entry?: Entry;
  /** Allowed growth in MB. The longest line read has 16 MB. */
  readonly heap?: number;
  /** Reason to skip this system. */
  readonly notHere?: string | undefined;
  readonly check: (stage: Stage) => Promise<void> | void;
}

const start = (connect: string): Entry => ({ timeouts: { connect } });
const failsWith =
  (code: string, said: RegExp) =>
  (stage: Stage): void => {
    assert.deepEqual(stage.publishedBy('bad'), []);
    assert.match(stage.problem(code).message, said);
  };
const keepsWhatCame = async (stage: Stage): Promise<void> => {
  await works(stage);
  assert.ok(stage.publishedBy('bad').length <= 10_000);
  assert.match(stage.problem('list-incomplete').message, /10000/);
};
const works = async (stage: Stage): Promise<void> => {
  assert.equal(await stage.text('bad', 'b_echo', { text: 'still there' }), 'still there');
};

/** The server's own answers queue behind its flood of the only stream. */
const startsOrSaysWhy = (stage: Stage): void => {
  if (stage.server('bad').state.kind === 'running') assert.ok(stage.publishedBy('bad').length > 0);
  else failsWith('list-failed', /did not come within \d+ s/)(stage);
};

/** The log stays short, and a line says how much was left out. */
const quietLog = async (stage: Stage): Promise<void> => {
  await stage.logs.until(
    ({ server, message }) => server === 'bad' && /left out/.test(message),
    'what was left out',
  );
  const lines = stage.logs.lines.filter(({ server }) => server === 'bad').length;
  assert.ok(lines < 2_000, `${lines} lines in the log`);
};

const cases: readonly Hostile[] = [
  {
    what: 'answers with wrong ids',
    trait: 'wrong-ids',
    entry: start('1s'),
    check: failsWith('server-silent', /1 s/),
  },
  {
    what: 'exits at once with code 0',
    trait: 'exit-0',
    check: failsWith('server-exited', /exit|ended/i),
  },
  {
    what: 'hangs at 100 % CPU',
    trait: 'spin',
    entry: start('1s'),
    check: failsWith('server-silent', /1 s/),
  },
  {
    what: 'writes endless garbage',
    trait: 'garbage',
    check: async (stage) => {
      await works(stage);
      await quietLog(stage);
    },
  },
  {
    what: 'writes 100 MB on one line',
    trait: 'long-line',
    args: ['--size', String(100 * megabytes)],
    entry: start('5s'),
    check: async (stage) => {
      await stage.logs.until(
        ({ message }) => /more than (8|16) MiB was left out/.test(message),
        'what was left out',
      );
    },
  },
  {
    what: 'closes its input',
    trait: 'closes-input',
    entry: start('3s'),
    check: (stage) => assert.equal(stage.server('bad').state.kind, 'failed'),
  },
  {
    what: 'closes its output',
    trait: 'closes-output',
    notHere:
      process.platform === 'win32'
        ? 'under Wine, an output that is closed ends with its program'
        : undefined,
    entry: start('3s'),
    check: (stage) => assert.equal(stage.server('bad').state.kind, 'failed'),
  },
  {
    what: 'has 10,000 tools',
    trait: 'many-tools',
    args: ['--size', '9998'],
    heap: 100,
    check: (stage) => assert.equal(stage.publishedBy('bad').length, 10_000),
  },
  {
    what: 'has more tools than the limit',
    trait: 'many-tools',
    args: ['--size', '30000'],
    heap: 150,
    check: keepsWhatCame,
  },
  {
    what: 'lists 9,000 entries that are not tools',
    trait: 'no-tools',
    args: ['--size', '9000'],
    check: async (stage) => {
      await works(stage);
      const problems = stage.host.snapshot.problems.filter(({ code }) => code === 'tool-malformed');
      assert.equal(problems.length, 100);
      assert.match(problems.at(-1)?.message ?? '', /8900 more/);
    },
  },
  {
    what: 'lists more entries that are not tools than the limit',
    trait: 'no-tools',
    args: ['--size', '200000'],
    check: keepsWhatCame,
  },
  {
    what: 'has a schema 20,000 levels deep',
    trait: 'deep-schema',
    args: ['--size', '20000'],
    check: async (stage) => {
      await works(stage);
      assert.deepEqual(stage.publishedBy('bad'), ['b_echo']);
      assert.match(stage.problem('tool-malformed').message, /bomb.*deep/);
    },
  },
  {
    what: 'has a schema of 60,000 properties',
    trait: 'wide-schema',
    args: ['--size', '60000'],
    heap: 200,
    check: async (stage) => {
      await works(stage);
      assert.match(stage.problem('tool-malformed').message, /bomb.*MiB/);
    },
  },
  {
    what: 'has a schema that unfolds to 2^64',
    trait: 'self-similar',
    check: async (stage) => {
      await works(stage);
      assert.equal(stage.publishedBy('bad').length, 3);
    },
  },
  {
    what: 'has a description of 12 MB',
    trait: 'huge-description',
    args: ['--size', String(12 * megabytes)],
    heap: 200,
    check: async (stage) => {
      await works(stage);
      assert.match(stage.problem('tool-malformed').message, /bomb.*MiB/);
    },
  },
  { what: 'answers three times', trait: 'duplicates', check: works },
  {
    what: 'endlessly answers requests that were never made',
    trait: 'strangers',
    check: async (stage) => {
      await works(stage);
      await quietLog(stage);
    },
  },
  { what: 'endlessly answers with ids beyond any number', trait: 'huge-ids', check: works },
  { what: 'asks endlessly', trait: 'requests', check: works },
  { what: 'writes endless empty lines', trait: 'nothing', check: works },
  { what: 'pings endlessly', trait: 'pings', check: works },
  {
    what: 'pings endlessly, 500 times in a line',
    trait: 'batches',
    args: ['--size', '500'],
    check: works,
  },
  {
    what: 'pings endlessly, 20,000 times in a line',
    trait: 'batches',
    args: ['--size', '20000'],
    check: works,
  },
  {
    what: 'asks endlessly and reads nothing',
    trait: 'deaf-requests',
    check: async (stage) => {
      await stage.logs.until(
        ({ message }) => /gets no more answers/.test(message),
        'that it gets no more answers',
      );
      assert.equal(stage.publishedBy('bad').length, 2);
    },
  },
  { what: 'endlessly announces changed tools', trait: 'storm', check: works },
  { what: 'pings endlessly over HTTP', over: 'http', trait: 'pings', check: works },
  {
    what: 'pings endlessly over HTTP, 400 times in an event',
    over: 'http',
    trait: 'batches',
    args: ['--size', '400'],
    check: works,
  },
  {
    what: 'pings endlessly over HTTP, 20,000 times in an event',
    over: 'http',
    trait: 'batches',
    args: ['--size', '20000'],
    check: works,
  },
  {
    what: 'endlessly announces changed tools over HTTP',
    over: 'http',
    trait: 'storm',
    check: works,
  },
  { what: 'sends endless empty events over HTTP', over: 'http', trait: 'nothing', check: works },
  {
    what: 'endlessly sends unrequested answers over HTTP',
    over: 'http',
    trait: 'strangers',
    check: works,
  },
  {
    what: 'pings endlessly over HTTP and takes no answers',
    over: 'http',
    trait: 'pings',
    args: ['--deaf'],
    check: async (stage) => {
      await works(stage);
      await stage.logs.until(
        ({ message }) => /gets no more answers/.test(message),
        'that it gets no more answers',
      );
    },
  },
  {
    what: 'pings endlessly over HTTP+SSE',
    over: 'legacy-sse',
    trait: 'pings',
    entry: start('1s'),
    check: startsOrSaysWhy,
  },
  {
    what: 'endlessly sends unrequested answers over HTTP+SSE',
    over: 'legacy-sse',
    trait: 'strangers',
    check: async (stage) => {
      startsOrSaysWhy(stage);
      await quietLog(stage);
    },
  },
  {
    what: 'logs endlessly',
    trait: 'logs',
    check: async (stage) => {
      await works(stage);
      await quietLog(stage);
    },
  },
  {
    what: 'writes endlessly to stderr',
    trait: 'stderr',
    check: async (stage) => {
      await works(stage);
      await quietLog(stage);
    },
  },
  {
    what: 'writes one endless line to stderr',
    trait: 'stderr-line',
    // Chunks read but not yet collected. The server writes far more in this time.
    heap: 128,
    check: async (stage) => {
      await works(stage);
      await quietLog(stage);
    },
  },
  {
    what: 'writes invalid UTF-8',
    trait: 'invalid-utf8',
    check: async (stage) => {
      assert.equal(await stage.text('bad', 'b_echo', { text: 'ü' }), 'ü\ufffd');
    },
  },
  { what: 'makes children that leave its group', trait: 'forks', check: works },
  {
    what: 'answers after the call was cancelled',
    trait: 'answers-late',
    check: async (stage) => {
      for (let n = 0; n < 3; n++) {
        const controller = new AbortController();
        const call = stage.outcome('bad', 'b_echo', {}, { signal: controller.signal });
        controller.abort();
        assert.equal((await call).kind, 'cancelled');
      }
      assert.match(await stage.text('bad', 'b_pid'), /^\d+$/);
    },
  },
  {
    what: 'hangs at 100 % CPU on a call',
    trait: 'spin-on-call',
    entry: { timeouts: { call: '500ms' } },
    check: async (stage) => {
      assert.match(await stage.failure('bad', 'b_echo'), /result unknown.*0\.5 s/);
    },
  },
  {
    what: 'endlessly sends large unrequested answers',
    trait: 'large',
    args: ['--size', String(6 * megabytes)],
    heap: 150,
    check: works,
  },
  {
    what: 'endlessly sends large unrequested answers over HTTP',
    over: 'http',
    trait: 'large',
    args: ['--size', String(6 * megabytes)],
    heap: 150,
    check: works,
  },
  {
    what: 'answers a call with 100 MB on one line',
    trait: 'long-line-on-call',
    args: ['--size', String(100 * megabytes)],
    heap: 100,
    check: async (stage) => {
      assert.match(await stage.failure('bad', 'b_echo'), /result unknown.*larger than 16 MiB/);
      // It costs the call and not the server.
      assert.equal(stage.server('bad').state.kind, 'running');
    },
  },
];

describe('hostile servers', function () {
  this.timeout(60_000);
  let base: Strain;
  let stage: Stage;

  const good = (): Entry => rawWith(['echo']);
  const watch = async (): Promise<void> => {
    for (let n = 0; n < callsWatched; n++) {
      assert.equal(await stage.text('good', 'echo', { text: String(n) }), String(n));
    }
  };

  before(async () => {
    stage = await startStage();
    base = await strainOf(async () => {
      await stage.edit({ good: good() });
      await watch();
    });
    await endStages();
  });

  beforeEach(async () => {
    stage = await startStage();
  });

  afterEach(endStages);

  for (const { what, trait, over, args = [], entry = {}, heap = 64, notHere, check } of cases) {
    itNotHere(notHere !== undefined, notHere ?? '')(
      `Beside a server that ${what}, the good server goes on`,
      async () => {
        await stage.edit({ good: good() });
        const own = { transform: [{ prefix: 'b_' }], ...entry };
        const bad = over
          ? http((await stage.http(over, '--flood', trait, ...args)).url, own)
          : fixture('hostile', [trait, ...args], own);
        const heapBefore = heapNow();
        const strain = await strainOf(async () => {
          const edited = stage.edit({ good: good(), bad });
          await Promise.all([watch(), edited]);
          await watch();
          await check(stage);
        });
        const bound = worseThanBase * Math.max(leastBase, base.max);
        assert.ok(
          strain.max < bound,
          `the loop was held up for ${strain.max} ms; the good server alone ${base.max} ms`,
        );
        assert.ok(strain.heapGrown < heap, `${strain.heapGrown} MB of heap`);
        if (process.env['MCP_TOOLSETS_FIGURES'])
          console.log(`      ${trait}: ${JSON.stringify(strain)}`);
        await stage.edit({ good: good() });
        await stage.until(({ servers }) => servers.length === 1, 'the good server alone');
        const left = heapNow() - heapBefore;
        assert.ok(left < heap, `${left} MB of heap are left`);
      },
    );
  }
});
