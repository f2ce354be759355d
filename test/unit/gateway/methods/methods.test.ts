import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { AppOpenings } from '../../../../src/core/gateway/methods/appCalls.js';
import type { Answer, MethodDeps } from '../../../../src/core/gateway/methods/requests.js';
import { policies, type Road } from '../../../../src/core/protocol/clientPolicy.js';
import { cancelCall } from '../../../../src/core/gateway/conversations/client.js';
import { Listings } from '../../../../src/core/gateway/conversations/listings.js';
import { answerRequest, applyNotification } from '../../../../src/core/gateway/methods/methods.js';
import type { Session } from '../../../../src/core/gateway/conversations/session.js';
import { deliveryWithoutFiles } from '../../../../src/core/results/delivery.js';
import { FakeClock } from '../../../support/fakes/fakeClock.js';
import {
  FakeBackend,
  FakeStream,
  listingOf,
  MemoryLog,
  sessionOf,
  textOutcome,
  turn,
} from '../fakes.js';

describe('gateway: methods', () => {
  let backend: FakeBackend;
  let clock: FakeClock;
  let log: MemoryLog;
  let listings: Listings;
  let session: Session;
  let deps: MethodDeps;
  let activity: string[];

  beforeEach(() => {
    backend = new FakeBackend();
    clock = new FakeClock();
    log = new MemoryLog();
    activity = [];
    backend.set('t', ['a', 'b', 'c']);
    listings = new Listings({
      backend,
      clock,
      log,
      pageSize: 2,
      coalesceMs: 20,
      announce: () => session.announce(),
    });
    const delivery = deliveryWithoutFiles();
    deps = {
      backend,
      log,
      delivery,
      maxCalls: 2,
      noteActivity: (toolset) => activity.push(toolset),
      namesConversations: true,
      clock: new FakeClock(),
      openings: new AppOpenings(),
    };
    session = open('agent');
  });

  afterEach(() => {
    session.close({ cancelCalls: true });
    listings.dispose();
  });

  function open(road: Road): Session {
    return sessionOf(listingOf(listings, 't', road));
  }

  function ask(
    method: string,
    params?: Record<string, unknown>,
    reply = new FakeStream(),
    id: number | string = 1,
  ): Answer {
    return answerRequest(method, params, {
      id,
      client: session,
      reply,
      deps,
    });
  }

  function begin(params: Record<string, unknown>, id: number | string = 1): FakeStream {
    const reply = new FakeStream();
    assert.deepEqual(ask('tools/call', params, reply, id), { kind: 'later' });
    return reply;
  }

  function result(answer: Answer): Record<string, unknown> {
    assert.equal(answer.kind, 'result');
    return JSON.parse(answer.json) as Record<string, unknown>;
  }

  function errorCode(answer: Answer): number {
    assert.equal(answer.kind, 'error');
    return answer.error.code;
  }

  it('ping is answered with nothing', () => assert.deepEqual(result(ask('ping')), {}));

  it('a log level is accepted before any other request, and an unknown one is refused', () => {
    assert.deepEqual(result(ask('logging/setLevel', { level: 'debug' })), {});
    assert.equal(errorCode(ask('logging/setLevel', { level: 'loud' })), -32602);
    assert.equal(errorCode(ask('logging/setLevel')), -32602);
  });

  for (const method of [
    'prompts/list',
    'resources/list',
    'completion/complete',
    '__proto__',
    'constructor',
    '',
  ]) {
    it(`the method ${JSON.stringify(method)} is unknown`, () =>
      assert.equal(errorCode(ask(method)), -32601));
  }

  it('a call is promised a question by the list the client read last, not by the present one (S4d)', async () => {
    session = open('editor');
    backend.set('t', ['a', 'b'], { promised: new Set(['a']) });
    const promised = async (tool: string): Promise<unknown> => {
      begin({ name: tool, arguments: {} }, tool);
      const { call, answer } = await backend.nextCall();
      answer(textOutcome('done'));
      await turn();
      return call.isPromised;
    };
    assert.equal(await promised('a'), undefined);
    ask('tools/list');
    assert.deepEqual([await promised('a'), await promised('b')], [true, undefined]);
    backend.set('t', ['a', 'b']);
    assert.equal(await promised('a'), true);
    ask('tools/list');
    assert.equal(await promised('a'), undefined);
  });

  it('initialize within a session is refused', () =>
    assert.equal(errorCode(ask('initialize', {})), -32600));

  it('unknown and malformed notifications are ignored', () => {
    for (const [method, params] of [
      ['notifications/initialized', undefined],
      ['notifications/roots/list_changed', {}],
      ['notifications/cancelled', undefined],
      ['notifications/cancelled', { requestId: {} }],
      ['notifications/cancelled', { requestId: 'nobody' }],
    ] as const) {
      applyNotification(method, params, session, deps);
    }
  });

  describe('tools/list', () => {
    it('tools/list gives pages, and refuses stale and wrong cursors', () => {
      const first = result(ask('tools/list'));
      assert.deepEqual((first['tools'] as unknown[]).length, 2);
      const { nextCursor } = first;
      assert.equal(typeof nextCursor, 'string');
      assert.deepEqual(
        (result(ask('tools/list', { cursor: nextCursor }))['tools'] as unknown[]).length,
        1,
      );
      backend.set('t', ['x', 'y', 'z']);
      assert.equal(errorCode(ask('tools/list', { cursor: nextCursor })), -32602);
      assert.equal(errorCode(ask('tools/list', { cursor: 5 })), -32602);
      clock.advance(20);
    });

    it('a list_changed is still owed after a refused cursor', () => {
      const { nextCursor } = result(ask('tools/list'));
      const stream = new FakeStream();
      session.listen(stream);
      backend.set('t', ['x', 'y', 'z']);
      ask('tools/list', { cursor: nextCursor });
      clock.advance(20);
      assert.equal(stream.sent.length, 1);
    });

    it('tools/list is noted as activity', () => {
      assert.equal(session.hasListed, false);
      ask('tools/list');
      assert.equal(session.hasListed, true);
      assert.deepEqual(activity, ['t']);
    });
  });

  describe('tools/call', () => {
    it('tools/call goes to the backend with its conversation and the meta for the server', async () => {
      begin({
        name: 'a',
        arguments: { x: 1 },
        _meta: { progressToken: 5, 'vscode.conversationId': 'c1', traceparent: '00' },
      });
      const { call } = await backend.nextCall();
      assert.deepEqual(
        { ...call, signal: undefined, onProgress: undefined, client: undefined },
        {
          toolset: 't',
          policy: policies.agent,
          tool: 'a',
          arguments: { x: 1 },
          meta: { traceparent: '00' },
          conversation: 'c1',
          signal: undefined,
          onProgress: undefined,
          client: undefined,
          instance: undefined,
          isPromised: undefined,
          fromApp: undefined,
        },
      );
      begin({ name: 'b' }, 2);
      const plain = (await backend.nextCall()).call;
      assert.deepEqual(
        [plain.arguments, plain.meta, plain.conversation],
        [undefined, undefined, session.id],
      );
    });

    for (const [name, params] of [
      ['no name', {}],
      ['an empty name', { name: '' }],
      ['a name that is no string', { name: 1 }],
      ['arguments by position', { name: 'a', arguments: [] }],
      ['arguments that are null', { name: 'a', arguments: null }],
      ['meta that is no object', { name: 'a', _meta: 'x' }],
    ] as const) {
      it(`tools/call is refused with ${name}`, () =>
        assert.equal(errorCode(ask('tools/call', params)), -32602));
    }

    it('the outcome of a call is its answer', async () => {
      const cases = [
        [textOutcome('ok'), { result: { content: [{ type: 'text', text: 'ok' }] } }],
        [
          { kind: 'error', code: -32042, message: 'URL needed', data: { url: 'x' } },
          { error: { code: -32042, message: 'URL needed', data: { url: 'x' } } },
        ],
        [{ kind: 'cancelled' }, { error: { code: -32000, message: 'The call was cancelled.' } }],
      ] as const;
      for (const [outcome, expected] of cases) {
        const reply = begin({ name: 'a' }, 'id');
        (await backend.nextCall()).answer(outcome);
        await reply.answered;
        assert.deepEqual(reply.sent, [{ jsonrpc: '2.0', id: 'id', ...expected }]);
        assert.equal(reply.settled, 1);
        assert.equal(session.calls.size, 0);
      }
    });

    it('a note does not replace a structure that the version cannot express (V1)', async () => {
      const result = { content: [], structuredContent: ['a'] } as unknown as CallToolResult;
      backend.answering = () => ({ kind: 'result', result, notes: ['Note.'] });
      const reply = begin({ name: 'a' });
      await reply.answered;
      assert.deepEqual(reply.sent[0]?.['result'], {
        content: [
          { type: 'text', text: '["a"]' },
          { type: 'text', text: 'Note.' },
        ],
      });
    });

    it('results are adapted only for the editor', async () => {
      const raw = {
        content: [{ type: 'text', text: 'no' }],
        isError: true,
        structuredContent: { a: 1 },
      } as CallToolResult;
      backend.answering = () => ({ kind: 'result', result: raw });
      const plain = begin({ name: 'a' });
      await plain.answered;
      session = open('editor');
      const editor = begin({ name: 'a' });
      await editor.answered;
      assert.deepEqual(plain.sent[0]?.['result'], raw);
      assert.deepEqual(editor.sent[0]?.['result'], {
        content: [
          { type: 'text', text: 'Error: no' },
          { type: 'text', text: '{"a":1}' },
        ],
        isError: true,
      });
    });

    it('an exception of the backend is an internal error, with the cause only in the log', async () => {
      const reply = begin({ name: 'a' });
      (await backend.nextCall()).fail(new Error('cannot read /home/me/secret'));
      await turn();
      const error = reply.sent[0]?.['error'] as { code: number; message: string };
      assert.equal(error.code, -32603);
      assert.doesNotMatch(error.message, /secret/);
      assert.match(
        log.lines.join(),
        /error: The call of a in t threw: Error: cannot read \/home\/me\/secret/,
      );
    });

    it('an early exception and a result without a JSON form are internal errors', async () => {
      backend.answering = () => {
        throw new Error('at once');
      };
      const first = begin({ name: 'a' });
      await turn();
      backend.answering = () => ({ kind: 'result', result: { content: [], big: 1n } });
      const second = begin({ name: 'a' });
      await turn();
      assert.deepEqual(
        [first, second].map(({ sent }) => (sent[0]?.['error'] as { code: number }).code),
        [-32603, -32603],
      );
    });

    it('progress has the token of the client, until the answer', async () => {
      const reply = begin({ name: 'a', _meta: { progressToken: 'p' } });
      const held = await backend.nextCall();
      held.call.onProgress?.({ progress: 1 });
      held.call.onProgress?.({ progress: 2, total: 3, message: 'm' });
      held.answer(textOutcome('ok'));
      await turn();
      held.call.onProgress?.({ progress: 3 });
      const params = reply.sent.map((message) => message['params']);
      assert.deepEqual(params, [
        { progressToken: 'p', progress: 1 },
        { progressToken: 'p', progress: 2, total: 3, message: 'm' },
        undefined,
      ]);
    });

    it('a call without a token has no progress', async () => {
      const reply = begin({ name: 'a' });
      (await backend.nextCall()).call.onProgress?.({ progress: 1 });
      assert.deepEqual(reply.sent, []);
    });

    it('a notification cancels a call: aborted, settled without an answer, the outcome dropped', async () => {
      const reply = begin({ name: 'a' }, 7);
      const held = await backend.nextCall();
      applyNotification('notifications/cancelled', { requestId: 7, reason: 'stop' }, session, deps);
      assert.deepEqual([held.call.signal.aborted, held.call.signal.reason], [true, 'stop']);
      await turn();
      assert.deepEqual([reply.settled, reply.sent], [1, []]);
      held.answer(textOutcome('late'));
      await turn();
      assert.deepEqual([reply.settled, reply.sent], [1, []]);
    });

    it('a late outcome of a cancelled call does not answer a new call with its id', async () => {
      begin({ name: 'a' }, 7);
      const first = await backend.nextCall();
      cancelCall(session, 7);
      const reply = begin({ name: 'b' }, 7);
      first.answer(textOutcome('of the first'));
      await turn();
      assert.deepEqual(reply.sent, []);
    });

    it('a second call with an id in flight is refused', () => {
      begin({ name: 'a' }, 7);
      assert.equal(errorCode(ask('tools/call', { name: 'a' }, new FakeStream(), 7)), -32600);
    });

    it('calls in flight are bounded', () => {
      begin({ name: 'a' }, 1);
      begin({ name: 'a' }, 2);
      assert.equal(errorCode(ask('tools/call', { name: 'a' }, new FakeStream(), 3)), -32000);
    });

    it('a call of a removed toolset is refused, and a call in flight finishes (R4)', async () => {
      const reply = begin({ name: 'a' }, 1);
      const held = await backend.nextCall();
      backend.remove('t');
      backend.configured.add('t');
      const refused = ask('tools/call', { name: 'a' }, new FakeStream(), 2);
      assert.equal(errorCode(refused), -32602);
      assert.ok(refused?.kind === 'error' && refused.error.message === backend.whyGone('t'));
      held.answer(textOutcome('done'));
      await turn();
      assert.deepEqual(
        reply.sent.map(({ method, id }) => method ?? id),
        ['notifications/tools/list_changed', 1],
      );
      clock.advance(20);
    });

    it('activity is noted when calls begin and when the last has ended', async () => {
      begin({ name: 'a' }, 1);
      begin({ name: 'a' }, 2);
      (await backend.nextCall()).answer(textOutcome('1'));
      await turn();
      assert.equal(activity.length, 1);
      (await backend.nextCall()).answer(textOutcome('2'));
      await turn();
      assert.equal(activity.length, 2);
    });
  });
});
