import assert from 'node:assert/strict';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { ClientRequests } from '../../../../src/core/gateway/conversations/clientRequests.js';
import { FakeStream } from '../fakes.js';

/** Resolves when what waits for the next turn of the loop has gone on. */
async function nextTurn(): Promise<void> {
  await endOfTurn();
  await endOfTurn();
}

describe('gateway: what clients are asked (G4)', () => {
  const never = (): AbortSignal => new AbortController().signal;

  it('ids are ours, and an answer settles its own question, once', async () => {
    const [questions, stream] = [new ClientRequests(), new FakeStream()];
    const first = questions.ask(stream, 'roots/list', undefined, never());
    const second = questions.ask(stream, 'sampling/createMessage', { maxTokens: 1 }, never());
    await nextTurn();
    const [one, two] = stream.sent.map(({ id }) => id as string);
    assert.deepEqual(stream.sent[0], { jsonrpc: '2.0', id: one, method: 'roots/list' });
    assert.notEqual(one, two);
    questions.take({ kind: 'response', id: two ?? '', result: { model: 'm' } });
    questions.take({ kind: 'response', id: two ?? '', error: { code: 1, message: 'late' } });
    questions.take({ kind: 'response', id: 'ask-99', result: {} });
    questions.take({ kind: 'response', id: one ?? '', error: { code: -1, message: 'no', data: 7 } });
    assert.deepEqual(await second, { model: 'm' });
    await assert.rejects(first, { code: -1, message: 'no', data: 7 });
  });

  it('an answer to what was asked before its session began anew is the answer to nothing', async () => {
    const [before, now, stream] = [new ClientRequests(), new ClientRequests(), new FakeStream()];
    const old = before.ask(stream, 'elicitation/create', { message: 'Save?' }, never());
    await nextTurn();
    before.close();
    await assert.rejects(old, /has ended/);
    const asked = now.ask(stream, 'elicitation/create', { message: 'Delete?' }, never());
    await nextTurn();
    const [first, second] = stream.sent.map(({ id }) => id as string);
    now.take({ kind: 'response', id: first ?? '', result: { action: 'accept' } });
    now.take({ kind: 'response', id: second ?? '', result: { action: 'decline' } });
    assert.deepEqual(await asked, { action: 'decline' });
  });

  it('progress tokens are ours, too', async () => {
    const [questions, stream] = [new ClientRequests(), new FakeStream()];
    const heard: unknown[] = [];
    const params = { _meta: { progressToken: 'theirs', other: 1 } };
    const asked = questions.ask(stream, 'sampling/createMessage', params, never(), ({ progress }) =>
      heard.push(progress),
    );
    await nextTurn();
    const { id, params: sent } = stream.sent[0] as { id: string; params: typeof params };
    assert.deepEqual(sent, { _meta: { progressToken: id, other: 1 } });
    questions.progress({ progressToken: id, progress: 0.5 });
    questions.progress({ progressToken: 'theirs', progress: 0.7 });
    questions.take({ kind: 'response', id, result: {} });
    await asked;
    assert.deepEqual(heard, [0.5]);
  });

  it('a question that is taken back is told so', async () => {
    const [questions, stream, taken] = [new ClientRequests(), new FakeStream(), new AbortController()];
    const asked = questions.ask(stream, 'elicitation/create', {}, taken.signal);
    await nextTurn();
    taken.abort();
    await assert.rejects(asked, /withdrawn/);
    const [question, cancelled] = stream.sent;
    assert.deepEqual(cancelled?.['params'], { requestId: question?.['id'] });
    assert.equal(cancelled?.['method'], 'notifications/cancelled');
  });

  it('a question is written in a turn of its own (S2); of one that is taken back before, nothing is told', async () => {
    const [questions, stream, taken] = [new ClientRequests(), new FakeStream(), new AbortController()];
    const asked = questions.ask(stream, 'elicitation/create', {}, taken.signal);
    void questions.ask(stream, 'roots/list', undefined, never());
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

  it('nobody is asked where nobody listens, and none stays open when the session ends', async () => {
    const [questions, stream] = [new ClientRequests(), new FakeStream()];
    await assert.rejects(questions.ask(undefined, 'roots/list', undefined, never()), /not connected/);
    const open = questions.ask(stream, 'roots/list', undefined, never());
    questions.close();
    await assert.rejects(open, /has ended/);
    await assert.rejects(questions.ask(stream, 'roots/list', undefined, never()), /not connected/);
  });
});
