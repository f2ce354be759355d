import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PostReply } from '../../../../src/core/gateway/eventStreams.js';
import { resultMessage } from '../../../../src/core/protocol/jsonRpc.js';
import {
  ParkableCall,
  Parking,
  type CallTarget,
} from '../../../../src/core/gateway/modern/parking.js';
import { FakeClock } from '../../../support/fakes/fakeClock.js';
import { FakeStream } from '../fakes.js';

const target: CallTarget = {
  toolset: 't',
  conversation: 'd',
  method: 'tools/call',
  params: { name: 'a' },
};
const limitMs = 600_000;

class FakeReply extends FakeStream {
  readonly answers: unknown[] = [];
  override settle(answer: string | undefined): void {
    this.answers.push(answer === undefined ? undefined : JSON.parse(answer));
  }
}

describe('gateway: calls that wait for their clients (G4)', () => {
  let clock: FakeClock;
  let parking: Parking;
  let ended: number;
  const { signal } = new AbortController();

  beforeEach(() => {
    clock = new FakeClock();
    parking = new Parking();
    ended = 0;
  });

  function begin(id: number, of: CallTarget = target): { call: ParkableCall; reply: FakeReply } {
    const reply = new FakeReply();
    const carrier = { id, reply: reply as unknown as PostReply, progressToken: `p${id}` };
    const call = new ParkableCall(
      { target: of, parking, clock, serverMeta: {}, end: () => (ended += 1) },
      carrier,
    );
    return { call, reply };
  }

  function goOn(call: ParkableCall, id: number, responses: object): FakeReply {
    const reply = new FakeReply();
    call.resume(
      { id, reply: reply as unknown as PostReply, progressToken: undefined },
      { ...responses },
    );
    return reply;
  }

  function stateIn({ answers: [answer] }: FakeReply): string {
    const { result } = answer as { result: { resultType: string; requestState: string } };
    assert.equal(result.resultType, 'input_required');
    return result.requestState;
  }

  it('a call asks all questions of a turn at once, and its answer has the id of the latest POST', async () => {
    const { call, reply } = begin(1);
    const asked = [
      call.ask('roots/list', undefined, signal),
      call.ask('elicitation/create', { a: 1 }, signal),
    ];
    assert.equal(call.progressToken(), 'p1');
    await nextTurn();
    const state = stateIn(reply);
    const found = parking.take(state, target);
    assert.equal(found, call);
    assert.equal(parking.take(state, target), undefined, 'a state is good once');
    const declined = { action: 'decline', content: null, _meta: null };
    const next = goOn(call, 2, { 'question-1': { roots: [] }, 'question-2': declined, other: {} });
    assert.deepEqual(await Promise.all(asked), [{ roots: [] }, { action: 'decline' }]);
    call.settle(resultMessage(1, '{"x":1}'));
    assert.deepEqual([next.answers, ended], [[{ jsonrpc: '2.0', id: 2, result: { x: 1 } }], 1]);
    call.settle(resultMessage(1, '{}'));
    assert.equal(next.answers.length, 1);
  });

  it('a call without answers in time is cancelled', async () => {
    const { call, reply } = begin(1);
    const question = call.ask('roots/list', undefined, signal);
    await nextTurn();
    const state = stateIn(reply);
    call.closed({ reply: reply as unknown as PostReply });
    clock.advance(limitMs - 1);
    assert.equal(ended, 0, 'the end of the POST that asked is no cancellation');
    clock.advance(1);
    await assert.rejects(question, /is over/);
    assert.deepEqual([ended, parking.take(state, target)], [1, undefined]);
    await assert.rejects(call.ask('roots/list', undefined, signal), /not connected/);
  });

  it('an early result is kept for the next POST, within the limit of the wait', async () => {
    const { call, reply } = begin(1);
    const taken = new AbortController();
    const question = call.ask('roots/list', undefined, taken.signal);
    await nextTurn();
    taken.abort();
    await assert.rejects(question, /withdrawn/);
    call.settle(resultMessage(1, '{}'));
    assert.equal(ended, 0);
    assert.equal(parking.take(stateIn(reply), target), call);
    assert.deepEqual(goOn(call, 'x' as unknown as number, {}).answers, [
      { jsonrpc: '2.0', id: 'x', result: {} },
    ]);
    assert.equal(ended, 1);
    clock.advance(limitMs);
    assert.equal(ended, 1);
  });

  it('a call ends when the stream of its POST closes', async () => {
    const { call, reply } = begin(1);
    void call.ask('roots/list', undefined, signal).catch(() => {});
    await nextTurn();
    stateIn(reply);
    const next = goOn(call, 2, { 'question-1': {} });
    call.closed({ reply: reply as unknown as PostReply });
    assert.equal(ended, 0);
    call.closed({ reply: next as unknown as PostReply });
    assert.equal(ended, 1);
  });

  it('an open question is asked again, with another state', async () => {
    const { call, reply } = begin(1);
    void call.ask('roots/list', undefined, signal).catch(() => {});
    await nextTurn();
    const state = stateIn(reply);
    parking.take(state, target);
    const next = goOn(call, 2, { 'question-1': 'no object' });
    await nextTurn();
    assert.notEqual(stateIn(next), state);
    assert.equal(parking.take(state, target), undefined);
  });

  it('questions have the keys of the server, and an early answer counts once', async () => {
    const reply = new FakeReply();
    const given = { name: { action: 'decline' }, wrong: 5, other: {} };
    const carrier = { id: 1, reply: reply as unknown as PostReply, progressToken: undefined };
    const call = new ParkableCall(
      { target, parking, clock, serverMeta: {}, end: () => (ended += 1) },
      carrier,
      given,
    );
    assert.deepEqual(await call.ask('elicitation/create', {}, signal, 'name'), {
      action: 'decline',
    });
    const never = (): AbortSignal => new AbortController().signal;
    for (const key of ['name', 'wrong', 'name', 'question-2', undefined])
      void call.ask('elicitation/create', {}, never(), key).catch(() => {});
    await nextTurn();
    const [{ result }] = reply.answers as [{ result: { inputRequests: object } }];
    assert.deepEqual(Object.keys(result.inputRequests), [
      'name',
      'wrong',
      'question-1',
      'question-2',
      'question-3',
    ]);
  });

  it('only the answer of the client counts, whatever the key of the server', async () => {
    const { call, reply } = begin(1);
    const question = call.ask('roots/list', undefined, signal, '__proto__');
    await nextTurn();
    parking.take(stateIn(reply), target);
    const next = goOn(call, 2, {});
    await nextTurn();
    parking.take(stateIn(next), target);
    goOn(call, 3, Object.fromEntries([['__proto__', { roots: [] }]]));
    assert.deepEqual(await question, { roots: [] });
  });

  it('a call gives way after a minute, but not during a POST (L2b)', async () => {
    const { call, reply } = begin(1);
    const since = clock.now();
    assert.equal(call.waitsSince, undefined);
    const question = call.ask('roots/list', undefined, signal);
    await nextTurn();
    clock.advance(59_999);
    assert.equal(call.waitsSince, undefined);
    clock.advance(1);
    assert.equal(call.waitsSince, since);
    parking.take(stateIn(reply), target);
    goOn(call, 2, { 'question-1': {} });
    assert.equal(call.waitsSince, undefined);
    await question;
    call.settle(undefined);
    assert.equal(call.waitsSince, undefined);
  });

  it('the longest waiting call gives way if too many wait', async () => {
    const never = (): AbortSignal => new AbortController().signal;
    const refused: string[] = [];
    const ask = (call: ParkableCall, name: string): void =>
      void call
        .ask('roots/list', undefined, never())
        .catch(({ message }: Error) => refused.push(`${name}: ${message}`));
    Array.from({ length: 256 }, (_, id) => begin(id).call).forEach((call, index) =>
      ask(call, String(index)),
    );
    await nextTurn();
    ask(begin(256).call, 'too early');
    await nextTurn();
    assert.deepEqual(refused.splice(0), ['too early: The clients have too many open questions.']);
    clock.advance(60_000);
    const [late, later] = [begin(257), begin(258)];
    ask(late.call, 'late');
    ask(later.call, 'later');
    await nextTurn();
    const over = 'The call of the client that was asked is over.';
    assert.deepEqual(refused, [`0: ${over}`, `1: ${over}`]);
    assert.deepEqual(
      [late, later].map(({ reply }) => parking.take(stateIn(reply), target)),
      [late.call, later.call],
    );
    parking.dispose();
  });

  it('waiting calls and their questions are bounded', async () => {
    const never = (): AbortSignal => new AbortController().signal;
    const calls = Array.from({ length: 260 }, (_, id) => begin(id).call);
    const refused: unknown[] = [];
    for (const call of calls)
      void call
        .ask('roots/list', undefined, never())
        .catch((error: Error) => refused.push(error.message));
    await nextTurn();
    assert.deepEqual(refused, Array(4).fill('The clients have too many open questions.'));
    await assert.rejects(begin(260).call.ask('roots/list', undefined, signal), /too many/);
    parking.dispose();
    assert.equal(ended, 256, 'the end of the gateway ends them all');
    const { call } = begin(1);
    for (let count = 0; count < 64; count++)
      void call.ask('roots/list', undefined, never()).catch(() => {});
    await assert.rejects(call.ask('roots/list', undefined, signal), /too many/);
  });
});
