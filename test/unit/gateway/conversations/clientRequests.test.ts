import assert from 'node:assert/strict';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { ClientRequests } from '../../../../src/core/gateway/conversations/clientRequests.js';
import { FakeStream } from '../fakes.js';

/** Resolves when what waits for the next turn of the loop has gone on. */
async function nextTurn(): Promise<void> {
  await endOfTurn();
  await endOfTurn();
}

describe('gateway: requests to clients (G4)', () => {
  const never = (): AbortSignal => new AbortController().signal;

  it('requests have our ids, and an answer settles its own request, once', async () => {
    const [questions, stream] = [new ClientRequests(), new FakeStream()];
    const first = questions.ask(stream, 'roots/list', undefined, never(), {});
    const second = questions.ask(stream, 'sampling/createMessage', { maxTokens: 1 }, never(), {});
    await nextTurn();
    const [one, two] = stream.sent.map(({ id }) => id as string);
    assert.deepEqual(stream.sent[0], { jsonrpc: '2.0', id: one, method: 'roots/list' });
    assert.notEqual(one, two);
    questions.settle({ kind: 'response', id: two ?? '', result: { model: 'm' } });
    questions.settle({ kind: 'response', id: two ?? '', error: { code: 1, message: 'late' } });
    questions.settle({ kind: 'response', id: 'ask-99', result: {} });
    questions.settle({
      kind: 'response',
      id: one ?? '',
      error: { code: -1, message: 'no', data: 7 },
    });
    assert.deepEqual(await second, { model: 'm' });
    await assert.rejects(first, { code: -1, message: 'no', data: 7 });
  });

  it('an answer to a request of an earlier session is ignored', async () => {
    const [before, now, stream] = [new ClientRequests(), new ClientRequests(), new FakeStream()];
    const old = before.ask(stream, 'elicitation/create', { message: 'Save?' }, never(), {});
    await nextTurn();
    before.close();
    await assert.rejects(old, /has ended/);
    const asked = now.ask(stream, 'elicitation/create', { message: 'Delete?' }, never(), {});
    await nextTurn();
    const [first, second] = stream.sent.map(({ id }) => id as string);
    now.settle({ kind: 'response', id: first ?? '', result: { action: 'accept' } });
    now.settle({ kind: 'response', id: second ?? '', result: { action: 'decline' } });
    assert.deepEqual(await asked, { action: 'decline' });
  });

  it('requests have our progress tokens', async () => {
    const [questions, stream] = [new ClientRequests(), new FakeStream()];
    const heard: unknown[] = [];
    const params = { _meta: { progressToken: 'theirs', other: 1 } };
    const asked = questions.ask(stream, 'sampling/createMessage', params, never(), {
      onProgress: ({ progress }) => heard.push(progress),
    });
    await nextTurn();
    const { id, params: sent } = stream.sent[0] as { id: string; params: typeof params };
    assert.deepEqual(sent, { _meta: { progressToken: id, other: 1 } });
    questions.progress({ progressToken: id, progress: 0.5 });
    questions.progress({ progressToken: 'theirs', progress: 0.7 });
    questions.settle({ kind: 'response', id, result: {} });
    await asked;
    assert.deepEqual(heard, [0.5]);
  });

  it('the client learns about a withdrawn request', async () => {
    const [questions, stream, taken] = [
      new ClientRequests(),
      new FakeStream(),
      new AbortController(),
    ];
    const asked = questions.ask(stream, 'elicitation/create', {}, taken.signal, {});
    await nextTurn();
    taken.abort();
    await assert.rejects(asked, /withdrawn/);
    const [question, cancelled] = stream.sent;
    assert.deepEqual(cancelled?.['params'], { requestId: question?.['id'] });
    assert.equal(cancelled?.['method'], 'notifications/cancelled');
  });

  it("the client learns the server's reason for a withdrawal", async () => {
    const [questions, stream, taken] = [
      new ClientRequests(),
      new FakeStream(),
      new AbortController(),
    ];
    const asked = questions.ask(stream, 'elicitation/create', {}, taken.signal, {});
    await nextTurn();
    taken.abort('x'.repeat(2000));
    await assert.rejects(asked, /withdrawn/);
    const [question, cancelled] = stream.sent;
    assert.deepEqual(cancelled?.['params'], {
      requestId: question?.['id'],
      reason: `${'x'.repeat(999)}…`,
    });
  });

  it('a request is written in the next turn (S2e), unless it was withdrawn before', async () => {
    const [questions, stream, taken] = [
      new ClientRequests(),
      new FakeStream(),
      new AbortController(),
    ];
    const asked = questions.ask(stream, 'elicitation/create', {}, taken.signal, {});
    void questions.ask(stream, 'roots/list', undefined, never(), {});
    await endOfTurn();
    assert.deepEqual(stream.sent, []);
    taken.abort();
    await assert.rejects(asked, /withdrawn/);
    await nextTurn();
    assert.deepEqual(
      stream.sent.map(({ method }) => method),
      ['roots/list'],
    );
  });

  it('a long request is written in several turns, and not at all if it is withdrawn meanwhile (P10)', async () => {
    const [questions, stream, taken] = [
      new ClientRequests(),
      new FakeStream(),
      new AbortController(),
    ];
    const params = { list: Array.from({ length: 200_000 }, (_, n) => ({ n })) };
    const withdrawn = questions.ask(stream, 'elicitation/create', params, taken.signal, {});
    await nextTurn();
    taken.abort();
    await assert.rejects(withdrawn, /withdrawn/);
    const asked = questions.ask(stream, 'sampling/createMessage', params, never(), {});
    while (stream.sent.length === 0) await nextTurn();
    const [question, ...others] = stream.sent;
    assert.deepEqual(
      [question?.method, question?.params, others],
      ['sampling/createMessage', params, []],
    );
    questions.close();
    await assert.rejects(asked, /ended/);
  });

  it('a request fails without a listening client, and at the end of the session', async () => {
    const [questions, stream] = [new ClientRequests(), new FakeStream()];
    await assert.rejects(
      questions.ask(undefined, 'roots/list', undefined, never(), {}),
      /not connected/,
    );
    const open = questions.ask(stream, 'roots/list', undefined, never(), {});
    questions.close();
    await assert.rejects(open, /has ended/);
    await assert.rejects(
      questions.ask(stream, 'roots/list', undefined, never(), {}),
      /not connected/,
    );
  });
});
