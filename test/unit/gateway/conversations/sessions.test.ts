import assert from 'node:assert/strict';
import { Cancellation, type CancelSignal } from '../../../../src/core/base/cancellation.js';
import { cancelCall } from '../../../../src/core/gateway/conversations/client.js';
import { Listings } from '../../../../src/core/gateway/conversations/listings.js';
import type { Session } from '../../../../src/core/gateway/conversations/session.js';
import { Sessions } from '../../../../src/core/gateway/conversations/sessions.js';
import { policies, type Road } from '../../../../src/core/protocol/clientPolicy.js';
import { FakeClock } from '../../../support/fakes/fakeClock.js';
import { FakeBackend, FakeStream, listingOf, MemoryLog, noTraits, turn } from '../fakes.js';

const listChanged = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

describe('gateway: sessions', () => {
  let backend: FakeBackend;
  let clock: FakeClock;
  let listings: Listings;
  let sessions: Sessions;
  let closed: string[];

  beforeEach(() => {
    backend = new FakeBackend();
    clock = new FakeClock();
    closed = [];
    backend.set('t', ['a']);
    backend.set('u', ['a']);
    sessions = new Sessions(
      clock,
      3,
      ({ id }) => closed.push(id),
      () => {},
    );
    listings = new Listings({
      backend,
      clock,
      log: new MemoryLog(),
      pageSize: 1_000,
      coalesceMs: 20,
      announce: (listing) => sessions.of(listing.toolset).forEach((session) => session.announce()),
    });
  });

  afterEach(() => {
    sessions.dispose();
    listings.dispose();
  });

  function start(toolset = 't', road: Road = 'editor'): Parameters<Sessions['open']>[0] {
    return {
      toolset,
      listing: () => listingOf(listings, toolset, road),
      traits: noTraits,
      origin: 'new',
    };
  }

  function open(toolset?: string, road?: Road): Session {
    const session = sessions.open(start(toolset, road));
    assert.ok(session, 'there is room');
    return session;
  }

  function beginCall(
    session: Session,
    id: number,
  ): { reply: FakeStream; signal: CancelSignal; result(): void } {
    const reply = new FakeStream();
    const controller = new Cancellation();
    const call = { what: 'tool', controller, reply, listVersion: session.listing.tools.version };
    session.calls.set(id, call);
    return {
      reply,
      signal: controller,
      result: () => session.tellBeforeResult(reply, call.listVersion),
    };
  }

  describe('list_changed', () => {
    it('list_changed goes to a listening stream, once for each change', () => {
      const session = open();
      const stream = new FakeStream();
      session.listen(stream);
      assert.deepEqual(stream.sent, [], 'the client knows the list it was initialised with');
      backend.set('t', ['b']);
      clock.advance(20);
      assert.deepEqual(stream.sent, [listChanged]);
      session.hasRead('tools');
      backend.set('t', ['c']);
      clock.advance(20);
      assert.equal(stream.sent.length, 2);
    });

    it('list_changed goes to the newest open stream', () => {
      const session = open();
      const [older, newer, gone] = [new FakeStream(), new FakeStream(), new FakeStream()];
      for (const stream of [older, newer, gone]) session.listen(stream);
      session.stopListening(gone);
      backend.set('t', ['b']);
      clock.advance(20);
      assert.deepEqual([older.sent.length, newer.sent.length, gone.sent.length], [0, 1, 0]);
    });

    it('list_changed waits for a stream', () => {
      const session = open();
      backend.set('t', ['b']);
      clock.advance(20);
      const stream = new FakeStream();
      session.listen(stream);
      assert.deepEqual(stream.sent, [listChanged]);
    });

    it('list_changed is sent again on the next stream, because the earlier one may have lost it', () => {
      const session = open();
      const first = new FakeStream();
      session.listen(first);
      backend.set('t', ['b']);
      clock.advance(20);
      session.stopListening(first);
      const second = new FakeStream();
      session.listen(second);
      assert.deepEqual(second.sent, [listChanged]);
    });

    it('a client that has listed since gets no list_changed', () => {
      const session = open();
      const stream = new FakeStream();
      session.listen(stream);
      backend.set('t', ['b']);
      session.listing.refresh();
      session.hasRead('tools');
      clock.advance(20);
      session.listen(new FakeStream());
      assert.deepEqual(stream.sent, []);
    });

    it('a change right after a listing is reported', () => {
      const session = open();
      const stream = new FakeStream();
      session.listen(stream);
      backend.set('t', ['b']);
      session.listing.refresh();
      session.hasRead('tools');
      backend.set('t', ['c']);
      clock.advance(20);
      assert.deepEqual(stream.sent, [listChanged]);
    });

    it('list_changed does not reach sessions of other toolsets', () => {
      const session = open('u');
      const stream = new FakeStream();
      session.listen(stream);
      backend.set('t', ['b']);
      clock.advance(20);
      assert.deepEqual(stream.sent, []);
    });

    it('list_changed precedes the result of a call during the change, before the end of the burst', () => {
      const session = open();
      const call = beginCall(session, 1);
      backend.set('t', ['b']);
      call.result();
      assert.deepEqual(call.reply.sent, [listChanged]);
    });

    it('list_changed precedes the result also after it was sent on the listening stream', () => {
      const session = open();
      session.listen(new FakeStream());
      const call = beginCall(session, 1);
      backend.set('t', ['b']);
      clock.advance(20);
      call.result();
      assert.deepEqual(call.reply.sent, [listChanged]);
    });

    it('list_changed does not precede the result if the client has listed since', () => {
      const session = open();
      const call = beginCall(session, 1);
      backend.set('t', ['b']);
      session.listing.refresh();
      session.hasRead('tools');
      call.result();
      assert.deepEqual(call.reply.sent, []);
    });

    it('a client without a stream gets list_changed with its next result, once', () => {
      const session = open();
      backend.set('t', ['b']);
      clock.advance(20);
      const first = beginCall(session, 1);
      first.result();
      const second = beginCall(session, 2);
      second.result();
      assert.deepEqual([first.reply.sent.length, second.reply.sent.length], [1, 0]);
    });
  });

  describe('streams', () => {
    it('the streams of a session are bounded: the oldest ends', () => {
      const session = open();
      const streams = Array.from({ length: 9 }, () => new FakeStream());
      for (const stream of streams) session.listen(stream);
      assert.deepEqual(
        streams.map(({ ended }) => ended),
        [true, ...Array<boolean>(8).fill(false)],
      );
    });

    it('the streams of a session end with it', () => {
      const session = open();
      const stream = new FakeStream();
      session.listen(stream);
      sessions.delete(session, true);
      assert.equal(stream.ended, true);
      assert.deepEqual(closed, [session.id]);
    });
  });

  describe('calls', () => {
    it('a cancelled call is aborted, and settled without an answer', async () => {
      const session = open();
      const [one, two] = [beginCall(session, 1), beginCall(session, 2)];
      cancelCall(session, 1);
      cancelCall(session, 1);
      await turn();
      assert.deepEqual([one.signal.aborted, one.reply.settled, one.reply.sent], [true, 1, []]);
      assert.deepEqual([two.signal.aborted, two.reply.settled], [false, 0]);
    });

    it('ids of calls are compared with their type', () => {
      const session = open();
      const call = beginCall(session, 1);
      cancelCall(session, '1');
      assert.equal(call.signal.aborted, false);
    });

    it('closing a session cancels its calls or lets them run on', () => {
      const [left, ended] = [open(), open()];
      const [running, aborted] = [beginCall(left, 1), beginCall(ended, 1)];
      sessions.delete(left, false);
      sessions.delete(ended, true);
      assert.deepEqual([running.signal.aborted, aborted.signal.aborted], [false, true]);
    });
  });

  describe('table', () => {
    it('finds a session only for its toolset and kind of client', () => {
      const { id } = open('t');
      assert.ok(sessions.find(id, { toolset: 't', policy: policies.editor }));
      assert.equal(sessions.find(id, { toolset: 'u', policy: policies.editor }), undefined);
      assert.equal(sessions.find(id, { toolset: 't', policy: policies.agent }), undefined);
      assert.equal(sessions.find('x', { toolset: 't', policy: policies.editor }), undefined);
    });

    it('the session idle for longest makes room', () => {
      const [a, b, c] = [open(), open(), open()];
      clock.advance(1);
      sessions.find(a.id, a.listing);
      clock.advance(1);
      sessions.find(c.id, c.listing);
      open();
      assert.deepEqual(closed, [b.id]);
    });

    it('a listening session stays longer, and a session with calls in flight stays in any case', () => {
      const [listening, calling] = [open(), open()];
      listening.listen(new FakeStream());
      const call = beginCall(calling, 1);
      clock.advance(5);
      const idle = open();
      open();
      open();
      assert.equal(closed[0], idle.id);
      assert.ok(!closed.includes(listening.id));
      assert.equal(call.signal.aborted, false);
    });

    it('there is no room for a session if all have calls in flight', () => {
      for (let n = 0; n < 3; n++) beginCall(open(), 1);
      assert.equal(sessions.open(start()), undefined);
      assert.deepEqual(closed, []);
    });
  });

  describe('clients that are gone (L2a)', () => {
    const listenAndLeave = (session: Session, kind: 'connect' | 'other' = 'other'): void => {
      const stream = new FakeStream();
      session.listen(stream);
      session.stopListening(stream);
      sessions.streamClosed(session, kind);
    };

    it('a client has gone if its stream has closed and it is silent for 45 s', () => {
      const session = open('t', 'agent');
      clock.advance(60_000);
      assert.deepEqual(closed, [], 'one that never listened may only be slow');
      listenAndLeave(session);
      clock.advance(30_000);
      sessions.find(session.id, session.listing);
      clock.advance(44_999);
      assert.deepEqual(closed, []);
      clock.advance(1);
      assert.deepEqual(closed, [session.id]);
    });

    it('a client that listens again, has a call in flight or is the editor has not gone', () => {
      const [again, calling, editor] = [
        open('t', 'agent'),
        open('u', 'agent'),
        open('t', 'editor'),
      ];
      for (const session of [again, calling, editor]) listenAndLeave(session);
      again.listen(new FakeStream());
      beginCall(calling, 1);
      clock.advance(200_000);
      assert.deepEqual(closed, []);
      for (const id of calling.calls.keys()) calling.calls.delete(id);
      clock.advance(45_000);
      assert.deepEqual(closed, [calling.id]);
    });

    it('a `connect` without a stream has gone within 3 s, and its call is cancelled', () => {
      const [again, calling] = [open('t', 'agent'), open('u', 'agent')];
      for (const session of [again, calling]) listenAndLeave(session, 'connect');
      const { signal } = beginCall(calling, 1);
      clock.advance(2_000);
      again.listen(new FakeStream());
      assert.equal(signal.aborted, false);
      clock.advance(1_000);
      assert.deepEqual([closed, signal.aborted], [[calling.id], true]);
    });

    it('a session can be revived unless its client has ended it', () => {
      const [left, ended] = [open('t', 'agent'), open('t', 'agent')];
      assert.ok(!sessions.isFree(left.id));
      listenAndLeave(left);
      clock.advance(45_000);
      sessions.delete(ended, true);
      assert.deepEqual([sessions.isFree(left.id), sessions.isFree(ended.id)], [true, false]);
    });

    it('the client of a revived session gets a notification for each list', () => {
      const session = sessions.open({
        ...start('t', 'agent'),
        origin: { revived: open('u', 'agent').id },
      });
      assert.ok(session);
      const stream = new FakeStream();
      session.listen(stream);
      assert.equal(stream.sent[0]?.['method'], 'notifications/tools/list_changed');
      const { past } = session.client;
      assert.match(past.kind === 'lost' ? past.why : '', /its session had ended/);
    });
  });

  it('the conversations of a session are remembered in bounds (S2)', () => {
    const session = open();
    for (let count = 0; count < 2_000; count++) session.idOf(`conversation-${count}`);
    const [, oldest, ...newer] = session.clients().map(({ conversation }) => conversation);
    assert.equal(oldest, `${session.conversation.id}/conversation-1000`);
    assert.equal(newer.length, 999);
    assert.equal(session.idOf('conversation-0'), session.conversation.id);
    assert.equal(session.idOf('conversation-1'), `${session.conversation.id}/conversation-1`);
  });
});
