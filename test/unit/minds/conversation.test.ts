/** The tool-calling loop (D1), with a model and tools at their seams. */
import assert from 'node:assert/strict';
import type { ToolResult } from '../../../src/core/minds/model.js';
import { call, FakeModel, play, question, said, text, tool, turns } from './fakes.js';

const status = (code: number, words = ''): Error => new Error(`Request failed: ${code} ${words}`);

describe('a turn of a conversation', () => {
  it('a turn streams the answer and ends with it', async () => {
    const model = new FakeModel([[text('Hel'), text('lo')]]);
    const { outcome, shown } = play(model);
    assert.deepEqual(await outcome, {
      end: { kind: 'answered' },
      messages: [{ kind: 'answer', text: 'Hello', calls: [] }],
    });
    assert.deepEqual(shown, ['text Hel', 'text lo']);
    assert.equal(model.requests[0]?.instructions, 'Be kind.');
  });

  it('the calls of an answer run in parallel, with results in the order of the calls', async () => {
    const model = new FakeModel([
      [text('Let me see.'), call('1', 'shop_count'), call('2', 'shop_echo')],
      [text('Done.')],
    ]);
    const waiting: (() => void)[] = [];
    const { outcome, shown } = play(model, {
      run: (one) =>
        new Promise<ToolResult>((resolve) => waiting.push(() => resolve(said(one, one.tool)))),
    });
    await turns();
    assert.equal(waiting.length, 2, 'both run at once');
    waiting.reverse().forEach((finish) => finish());
    const { messages } = await outcome;
    assert.deepEqual(
      messages[1]?.kind === 'results' && messages[1].results.map(({ callId }) => callId),
      ['1', '2'],
    );
    assert.deepEqual(model.requests[1]?.messages, [question('Go on.'), ...messages.slice(0, 2)]);
    assert.deepEqual(shown.slice(1, 4), [
      'calls shop_count, shop_echo',
      'finished shop_echo',
      'finished shop_count',
    ]);
  });

  it('each request has the current tools and instructions', async () => {
    const model = new FakeModel([[call('1', 'shop_count')], [text('Done.')]]);
    let asked = 0;
    const { outcome } = play(model, {
      setup: () => ({
        tools: [tool('shop_count'), ...(asked++ > 0 ? [tool('shop_new')] : [])],
        instructions: `Step ${asked}`,
      }),
    });
    await outcome;
    assert.deepEqual(
      model.requests.map(({ tools, instructions }) => [
        instructions,
        ...tools.map(({ name }) => name),
      ]),
      [
        ['Step 1', 'shop_count'],
        ['Step 2', 'shop_count', 'shop_new'],
      ],
    );
  });

  it('a call of an unknown or refused tool gets an error as its result', async () => {
    const model = new FakeModel([
      [call('1', 'shop_gone'), call('2', 'shop_count')],
      [text('Sorry.')],
    ]);
    const { outcome, shown } = play(model, {
      permit: () => Promise.resolve({ kind: 'refused', why: 'the person said no.' }),
      run: () => assert.fail('nothing runs'),
    });
    const results = (await outcome).messages[1];
    assert.ok(results?.kind === 'results');
    assert.deepEqual(
      results.results.map(({ parts, isError }) => [isError, parts[0]]),
      [
        [
          true,
          {
            kind: 'text',
            text: 'Error: there is no tool "shop_gone" here. Use one of the offered tools.',
          },
        ],
        [true, { kind: 'text', text: 'Error: the person said no.' }],
      ],
    );
    assert.deepEqual(shown.slice(1, 3).sort(), ['failed shop_count', 'failed shop_gone']);
  });

  it('an error of a runner costs only its own call', async () => {
    const model = new FakeModel([
      [call('1', 'shop_count'), call('2', 'shop_echo')],
      [text('Done.')],
    ]);
    const { outcome } = play(model, {
      run: (one) =>
        one.id === '1' ? Promise.reject(new Error('a defect')) : Promise.resolve(said(one, 'fine')),
    });
    const results = (await outcome).messages[1];
    assert.deepEqual(results?.kind === 'results' && results.results.map(({ isError }) => isError), [
      true,
      false,
    ]);
  });

  it('a turn stops at the limit of steps and can continue from there', async () => {
    const rounds = Array.from({ length: 3 }, (_, index) => [call(String(index), 'shop_count')]);
    const model = new FakeModel(rounds);
    const { end, messages } = await play(model, { maxSteps: 3 }).outcome;
    assert.deepEqual(end, { kind: 'stepLimit', steps: 3 });
    assert.equal(messages.at(-1)?.kind, 'results');
    const further = new FakeModel([[text('Here it is.')]]);
    const next = await play(further, { messages: [question('Go on.'), ...messages] }).outcome;
    assert.deepEqual(next.end, { kind: 'answered' });
    assert.equal(further.requests[0]?.messages.length, 7);
  });
});

describe('a failing model', () => {
  it('a rejection ends the turn at once, names the tool, and keeps the finished part', async () => {
    const model = new FakeModel([
      [call('1', 'shop_count')],
      [
        status(
          400,
          `{"error":{"message":"Invalid schema for function 'shop_echo': array schema missing items"}}`,
        ),
      ],
    ]);
    const { outcome, shown } = play(model);
    const { end, messages } = await outcome;
    assert.ok(end.kind === 'stopped' && end.why.kind === 'rejected');
    assert.equal(end.tool, 'shop_echo');
    assert.match(end.why.text, /Invalid schema for function/);
    assert.equal(model.requests.length, 2, 'not tried again');
    assert.deepEqual(
      messages.map(({ kind }) => kind),
      ['answer', 'results'],
    );
    assert.ok(!shown.some((line) => line.startsWith('retry')));
  });

  it('a turn continues after /continue with the same conversation', async () => {
    const first = await play(
      new FakeModel([[call('1', 'shop_count')], [status(400, 'invalid request')]]),
    ).outcome;
    const model = new FakeModel([[text('Better now.')]]);
    const { end } = await play(model, { messages: [question('Go on.'), ...first.messages] })
      .outcome;
    assert.equal(end.kind, 'answered');
    assert.deepEqual(model.requests[0]?.messages, [question('Go on.'), ...first.messages]);
  });

  it('a temporary failure is retried three times, later each time, and then the turn stops', async () => {
    const model = new FakeModel([
      [status(503)],
      [status(429)],
      [new Error('fetch failed')],
      [status(500)],
    ]);
    const { outcome, shown, clock } = play(model);
    for (const ms of [1000, 2000, 4000]) {
      await turns();
      assert.equal(clock.pending, 1);
      clock.advance(ms - 1);
      await turns();
      assert.equal(clock.pending, 1, 'not before its time');
      clock.advance(1);
    }
    const { end } = await outcome;
    assert.ok(end.kind === 'stopped' && end.why.kind === 'exhausted');
    assert.equal(end.why.attempts, 4);
    assert.deepEqual(shown, ['retry 1 in 1000', 'retry 2 in 2000', 'retry 3 in 4000']);
  });

  it('a turn recovers, runs no call twice, and counts retries afresh for the next request', async () => {
    const ran: string[] = [];
    const model = new FakeModel([
      [text('One mo'), call('0', 'shop_count'), new Error('socket hang up')],
      [text('One moment.'), call('1', 'shop_count')],
      [status(429, 'rate limit')],
      [text('Done.')],
    ]);
    const { outcome, shown, clock } = play(model, {
      run: (one) => {
        ran.push(one.id);
        return Promise.resolve(said(one, 'ok'));
      },
    });
    await turns();
    clock.advance(1000);
    await turns();
    clock.advance(1000);
    assert.deepEqual((await outcome).end, { kind: 'answered' });
    assert.deepEqual(ran, ['1'], 'the call of the answer that broke off is not carried out');
    assert.deepEqual(
      shown.filter((line) => line.startsWith('retry')),
      ['retry 1 in 1000, broke off', 'retry 1 in 1000'],
    );
  });

  it('a retry waits as long as the provider asks, within reason', async () => {
    const { outcome, shown, clock } = play(
      new FakeModel([[status(429, 'Please try again in 20s.')], [text('Ok.')]]),
    );
    await turns();
    assert.deepEqual(shown, ['retry 1 in 20000']);
    clock.advance(20_000);
    assert.equal((await outcome).end.kind, 'answered');
    const impatient = await play(new FakeModel([[status(429, 'retry after 3600 seconds')]]))
      .outcome;
    assert.ok(impatient.end.kind === 'stopped' && impatient.end.why.kind === 'exhausted');
  });
});

describe('a cancelled turn', () => {
  it('a cancelled turn ends during an answer, even if the model ignores the signal', async () => {
    const controller = new AbortController();
    const model = new FakeModel([
      async function* () {
        yield text('I think');
        await new Promise<never>(() => {});
      },
    ]);
    const { outcome } = play(model, { signal: controller.signal });
    await turns();
    controller.abort();
    assert.deepEqual(await outcome, {
      end: { kind: 'cancelled' },
      messages: [{ kind: 'answer', text: 'I think', calls: [] }],
    });
  });

  it('a cancellation reaches the running calls, and each call has a result', async () => {
    const controller = new AbortController();
    const model = new FakeModel([[call('1', 'shop_count'), call('2', 'shop_echo')]]);
    let told = 0;
    const { outcome } = play(model, {
      signal: controller.signal,
      run: (one, signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            told++;
            resolve(said(one, 'Error: cancelled', true));
          }),
        ),
    });
    await turns();
    controller.abort();
    const { end, messages } = await outcome;
    assert.deepEqual(end, { kind: 'cancelled' });
    assert.equal(told, 2);
    assert.equal(messages[1]?.kind === 'results' && messages[1].results.length, 2);
  });

  it('a cancelled turn ends during the wait for a retry, and before anything is sent', async () => {
    const controller = new AbortController();
    const waiting = play(new FakeModel([[status(503)]]), { signal: controller.signal });
    await turns();
    controller.abort();
    assert.deepEqual(await waiting.outcome, { end: { kind: 'cancelled' }, messages: [] });
    assert.equal(waiting.clock.pending, 0);
    const model = new FakeModel([]);
    assert.equal((await play(model, { signal: controller.signal }).outcome).end.kind, 'cancelled');
    assert.equal(model.requests.length, 0);
  });
});

describe('a turn too long for its model', () => {
  it('the oldest tool results are shortened first, with one notice', async () => {
    const model = new FakeModel([
      [call('1', 'shop_count')],
      [call('2', 'shop_echo')],
      [text('Done.')],
    ]);
    model.maxInputTokens = 11_000;
    const { outcome, shown } = play(model, {
      run: (one) => Promise.resolve(said(one, 'x'.repeat(6_000))),
    });
    const { end, messages } = await outcome;
    assert.equal(end.kind, 'answered');
    assert.deepEqual(
      shown.filter((line) => line.startsWith('shortened')),
      ['shortened 1, dropped 0'],
    );
    const last = model.requests.at(-1)?.messages ?? [];
    const sizes = last.flatMap((message) =>
      message.kind === 'results'
        ? message.results.map(({ parts }) => (parts[0]?.kind === 'text' ? parts[0].text.length : 0))
        : [],
    );
    assert.ok((sizes[0] ?? 0) < 1000 && sizes[1] === 6_000, String(sizes));
    assert.equal(
      messages[1]?.kind === 'results' &&
        messages[1].results[0]?.parts[0]?.kind === 'text' &&
        messages[1].results[0].parts[0].text.length,
      6_000,
      'the conversation keeps it whole',
    );
  });
});
