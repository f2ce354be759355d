import assert from 'node:assert/strict';
import type { Conversation } from '../../../../src/core/gateway/conversations/conversation.js';
import { Conversations } from '../../../../src/core/gateway/conversations/conversations.js';
import type { Listing } from '../../../../src/core/gateway/conversations/listings.js';
import { FakeClock } from '../../../support/fakes/fakeClock.js';

describe('gateway: modern conversations (G3, L2a)', () => {
  let clock: FakeClock;
  let conversations: Conversations;
  let told: string[];
  const key = (id: string): { toolset: string; id: string } => ({ toolset: 't', id });
  const of = (id: string): Conversation | undefined =>
    conversations.of(key(id), () => ({ toolset: 't' }) as Listing, { kind: 'unknown' });

  beforeEach(() => {
    clock = new FakeClock();
    told = [];
    conversations = new Conversations(
      clock,
      2,
      ({ id }) => told.push(`forgotten ${id}`),
      ({ conversation }) => told.push(`ended ${conversation}`),
    );
  });
  afterEach(() => conversations.dispose());

  it('a conversation stays the same for all its requests; the idlest makes room and keeps its leases', () => {
    const a = of('a');
    clock.advance(1);
    of('b');
    clock.advance(1);
    assert.equal(of('a'), a);
    clock.advance(1);
    of('c');
    assert.deepEqual(told, ['forgotten b']);
    of('d');
    assert.deepEqual(told, ['forgotten b', 'forgotten a'], 'and not the one that came last');
  });

  it('a conversation with an open stream makes no room', () => {
    of('a');
    const attending = conversations.attend(key('a'), 'other');
    clock.advance(1);
    of('b');
    of('c');
    assert.deepEqual(told, ['forgotten b']);
    attending.dispose();
    clock.advance(1);
    of('c');
    of('d');
    assert.deepEqual(told, ['forgotten b', 'forgotten a']);
  });

  it('a new conversation is refused if all are in use', () => {
    const [a, b] = [of('a'), of('b')];
    assert.ok(a && b);
    for (const one of [a, b]) one.openPosts = 1;
    assert.equal(of('c'), undefined);
    a.openPosts = 0;
    assert.ok(of('c'));
  });

  it('a conversation ends 45 s after its last stream and its last request', () => {
    of('a');
    const [first, second] = [
      conversations.attend(key('a'), 'other'),
      conversations.attend(key('a'), 'other'),
    ];
    first.dispose();
    clock.advance(100_000);
    second.dispose();
    clock.advance(44_000);
    of('a');
    clock.advance(44_000);
    assert.deepEqual(told, [], 'something came');
    clock.advance(1_000);
    assert.deepEqual(told, ['forgotten a', 'ended a']);
  });

  it('the conversation of a `connect` that opens its stream again lives, and otherwise ends within 3 s (L2a)', () => {
    of('a');
    conversations.attend(key('a'), 'connect').dispose();
    clock.advance(2_000);
    const again = conversations.attend(key('a'), 'connect');
    clock.advance(100_000);
    assert.deepEqual(told, []);
    again.dispose();
    clock.advance(3_000);
    assert.deepEqual(told, ['forgotten a', 'ended a']);
  });

  it('a conversation does not end with an open stream, or during a request', () => {
    const a = of('a');
    assert.ok(a);
    conversations.attend(key('a'), 'other').dispose();
    const again = conversations.attend(key('a'), 'other');
    clock.advance(100_000);
    assert.deepEqual(told, []);
    a.openPosts = 1;
    again.dispose();
    clock.advance(100_000);
    assert.deepEqual(told, []);
    [a.openPosts, a.lastUsed] = [0, clock.now()];
    clock.advance(90_000);
    assert.deepEqual(told, ['forgotten a', 'ended a']);
  });

  it('a conversation that never had a stream does not end by itself', () => {
    of('a');
    clock.advance(10_000_000);
    assert.deepEqual(told, []);
    conversations.end(key('a'));
    conversations.end(key('unknown'));
    assert.deepEqual(told, ['forgotten a', 'ended a']);
  });
});
