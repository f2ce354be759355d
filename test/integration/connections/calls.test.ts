/** Rules X4, X6: every end of a call, over stdio and over HTTP. */
import assert from 'node:assert/strict';
import type { Connection } from '../../../src/core/connections/connection.js';
import { callTool, fixture, http, once, Rig, textOf } from './rig.js';
import { wasKilled } from '../../support/processes.js';

interface Way {
  readonly name: string;
  start(rig: Rig): Promise<Connection>;
}

const ways: Way[] = [
  { name: 'stdio', start: async (rig) => (await rig.start(fixture('raw'))).connection },
  {
    name: 'stdio, SDK server',
    start: async (rig) => (await rig.start(fixture('plain'))).connection,
  },
  {
    name: 'HTTP, events',
    start: async (rig) => (await rig.start(http((await rig.listen('http')).url))).connection,
  },
  {
    name: 'HTTP, JSON',
    start: async (rig) =>
      (await rig.start(http((await rig.listen('http', '--json')).url))).connection,
  },
  {
    name: 'HTTP+SSE',
    start: async (rig) => (await rig.start(http((await rig.listen('legacy-sse')).url))).connection,
  },
];

for (const way of ways) {
  describe(`calls over ${way.name}`, function () {
    this.timeout(60_000);
    let rig: Rig;
    let connection: Connection;
    beforeEach(async () => {
      rig = new Rig();
      connection = await way.start(rig);
    });
    afterEach(() => rig.end());

    it('results of calls are unchanged', async () => {
      const outcome = await callTool(connection, 'content');
      assert.equal(outcome.kind, 'result');
      const { result } = outcome as Extract<typeof outcome, { kind: 'result' }>;
      assert.deepEqual(
        result.content.map(({ type }) => type),
        ['text', 'image', 'audio', 'resource', 'resource', 'resource_link'],
      );
      assert.deepEqual(result['_meta'], { 'example.com/unknown': true });
      assert.deepEqual(result['unknownKey'], { kept: true });
      const structured = await callTool(connection, 'structured');
      assert.deepEqual(structured.kind === 'result' && structured.result.structuredContent, {
        celsius: 21.5,
        place: 'Bremen',
      });
    });

    it('tool errors and protocol errors of calls stay different', async () => {
      const failed = await callTool(connection, 'fail', { text: 'no such city' });
      assert.deepEqual(failed, {
        kind: 'result',
        result: { content: [{ type: 'text', text: 'no such city' }], isError: true },
      });
      const thrown = await callTool(connection, 'throw', { code: -32011, text: 'MCP error: busy' });
      assert.deepEqual(thrown, { kind: 'error', code: -32011, message: 'MCP error: busy' });
      assert.equal((await callTool(connection, 'no-such-tool')).kind, 'error');
    });

    it('the server gets the _meta of the caller with a new progress token', async () => {
      const meta = JSON.parse(
        await textOf(
          connection,
          'meta',
          {},
          { meta: { 'vscode.conversationId': 'c1', progressToken: 'theirs' } },
        ),
      ) as Record<string, unknown>;
      assert.equal(meta['vscode.conversationId'], 'c1');
      assert.notEqual(meta['progressToken'], 'theirs');
      assert.notEqual(meta['progressToken'], undefined);
    });

    it('hundreds of calls run concurrently', async () => {
      const texts = Array.from({ length: 300 }, (_, n) => `call ${n}`);
      assert.deepEqual(
        await Promise.all(texts.map((text) => textOf(connection, 'echo', { text }))),
        texts,
      );
    });

    it('a cancelled call ends at once, and notifies the server', async () => {
      const controller = new AbortController();
      const call = callTool(connection, 'quiet', { ms: 60_000 }, { signal: controller.signal });
      await textOf(connection, 'echo', { text: 'the other is on its way' });
      controller.abort();
      assert.deepEqual(await call, { kind: 'cancelled' });
      await untilCancelled(['quiet']);
    });

    it('a call that was cancelled before is not sent', async () => {
      const controller = new AbortController();
      controller.abort();
      assert.deepEqual(await callTool(connection, 'count', {}, { signal: controller.signal }), {
        kind: 'cancelled',
      });
      assert.equal(await textOf(connection, 'count'), '1');
    });

    it('a call ends at its limit without progress, and notifies the server', async () => {
      const outcome = await callTool(
        connection,
        'quiet',
        { ms: 60_000 },
        { timeouts: { call: 150, callMax: 10_000 } },
      );
      assert.deepEqual(outcome, { kind: 'timedOut', limit: 'call', ms: 150 });
      await untilCancelled(['quiet']);
    });

    if (way.name !== 'HTTP, JSON') {
      it('progress extends a call, and arrives in order before the result', async () => {
        const seen: unknown[] = [];
        const outcome = await callTool(
          connection,
          'slow',
          { ms: 900, steps: 6 },
          {
            timeouts: { call: 600, callMax: 20_000 },
            onProgress: (progress) => seen.push(progress),
          },
        );
        assert.equal(outcome.kind, 'result');
        assert.deepEqual(
          seen,
          [1, 2, 3, 4, 5, 6].map((progress) => ({
            progress,
            total: 6,
            message: `step ${progress}`,
          })),
        );
        const burst: unknown[] = [];
        await callTool(
          connection,
          'slow',
          { ms: 0, steps: 50 },
          { onProgress: (progress) => burst.push(progress) },
        );
        assert.equal(burst.length, 50);
      });

      it('a call ends at its total limit in spite of progress', async () => {
        const outcome = await callTool(
          connection,
          'slow',
          { ms: 60_000, steps: 2000 },
          { timeouts: { call: 5000, callMax: 300 } },
        );
        assert.deepEqual(outcome, { kind: 'timedOut', limit: 'callMax', ms: 300 });
        await untilCancelled(['slow']);
      });
    }

    it('all calls are lost when the server dies, before the death is reported', async () => {
      const settled: string[] = [];
      const quiet = [1, 2, 3].map(() => callTool(connection, 'quiet', { ms: 60_000 }));
      for (const call of quiet) void call.then(({ kind }) => settled.push(kind));
      const died = once(connection.onDidDie).then((cause) => ({ cause, settled: [...settled] }));
      await textOf(connection, 'echo', { text: 'the others are on their way' });
      const exit = callTool(connection, 'exit', { code: 7 });
      const outcomes = await Promise.all([...quiet, exit]);
      assert.deepEqual(
        outcomes.map(({ kind }) => kind),
        ['lost', 'lost', 'lost', 'lost'],
      );
      const told = await died;
      assert.deepEqual(told.settled, ['lost', 'lost', 'lost']);
      if (way.name.startsWith('stdio'))
        assert.equal(told.cause, 'The server process exited with code 7.');
      assert.equal((await callTool(connection, 'echo', { text: 'x' })).kind, 'lost');
      // A late listener also gets the event.
      assert.equal(await once(connection.onDidDie), told.cause);
    });

    it('calls are lost when the connection closes, without a report of death', async () => {
      let died = 0;
      connection.onDidDie(() => (died += 1));
      const call = callTool(connection, 'quiet', { ms: 60_000 });
      await textOf(connection, 'echo', { text: 'on its way' });
      await connection.close();
      assert.deepEqual(await call, { kind: 'lost', cause: 'The connection was closed.' });
      assert.equal((await callTool(connection, 'echo', { text: 'x' })).kind, 'lost');
      assert.equal(died, 0);
    });

    async function untilCancelled(expected: string[]): Promise<void> {
      for (;;) {
        const list = JSON.parse(await textOf(connection, 'cancelled')) as string[];
        if (list.length >= expected.length) return assert.deepEqual(list, expected);
      }
    }
  });
}

describe('calls to servers that crash', function () {
  this.timeout(60_000);
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.end());

  for (const hold of [false, true]) {
    it(`a call is lost when the server process ends${hold ? ', even if a child holds stdout' : ''}`, async () => {
      const times: number[] = [];
      for (let run = 0; run < 5; run++) {
        const { connection } = await rig.start(
          fixture('crashes-on-call', ...(hold ? ['--hold'] : [])),
        );
        assert(connection.pid !== undefined);
        const call = callTool(connection, 'quiet', { ms: 60_000 });
        await textOf(connection, 'echo', { text: 'on its way' });
        if (hold) void callTool(connection, 'crash');
        else process.kill(connection.pid, 'SIGKILL');
        const begun = performance.now();
        const outcome = await call;
        times.push(performance.now() - begun);
        assert.equal(outcome.kind, 'lost');
        const cause = hold
          ? 'exited with code 70. Its last line on stderr: “panic: out of cheese”'
          : wasKilled;
        assert.deepEqual(outcome, { kind: 'lost', cause: `The server process ${cause}` });
        await connection.close();
      }
      // The best of five, because other suites may use the machine at the same time.
      const best = Math.min(...times);
      if (process.env['SHOW_TIMES']) console.log(`      ${best.toFixed(0)} ms`);
    });
  }

  it('a lost call quotes the last line of the server on stderr', async () => {
    const { connection } = await rig.start(
      fixture('crashes-on-call', '--code', '9', '--stderr', 'disk full'),
    );
    assert.deepEqual(await callTool(connection, 'crash'), {
      kind: 'lost',
      cause: 'The server process exited with code 9. Its last line on stderr: “disk full”',
    });
  });

  it('a crash does not lose answers that the server wrote earlier', async () => {
    const { connection } = await rig.start(fixture('crashes-on-call'));
    const hang = callTool(connection, 'quiet', { ms: 60_000 });
    assert.equal((await textOf(connection, 'farewell')).length, 90_000);
    assert.equal((await hang).kind, 'lost');
  });

  it('an error of no request, and an answer that is almost JSON, are the answer of the only call', async () => {
    const { connection } = await rig.start(fixture('broken-answers'));
    for (const tool of ['no-id', 'null-id', 'nan', 'break']) {
      const outcome = await callTool(connection, tool);
      assert.ok(
        outcome.kind === 'error' && outcome.message.includes('Boom'),
        `${tool}: ${JSON.stringify(outcome)}`,
      );
    }
  });

  it('a result of protocol 2024-10-07 is content', async () => {
    const { connection } = await rig.start(fixture('broken-answers', '--protocol', '2024-10-07'));
    const outcome = await callTool(connection, 'old');
    const content = [{ type: 'text', text: '{"calls":1}' }];
    assert.deepEqual(outcome, { kind: 'result', result: { isError: true, content } });
  });

  it('calls end at their limits even if the server ignores cancellation', async () => {
    const { connection } = await rig.start(fixture('hangs-on-call'));
    const limits = { timeouts: { call: 100, callMax: 1000 } };
    assert.deepEqual(await callTool(connection, 'hang', {}, limits), {
      kind: 'timedOut',
      limit: 'call',
      ms: 100,
    });
    await rig.logged('cancelled hang');
    assert.deepEqual(
      await callTool(connection, 'trickle', {}, { timeouts: { call: 5000, callMax: 300 } }),
      {
        kind: 'timedOut',
        limit: 'callMax',
        ms: 300,
      },
    );
    assert.equal(await textOf(connection, 'echo', { text: 'fine' }), 'fine');
  });
});
