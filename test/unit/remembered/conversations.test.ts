import assert from 'node:assert/strict';
import { RememberedConversations } from '../../../src/core/remembered/conversations.js';

describe('the conversations that had an instance (P9, X4)', () => {
  let stored: unknown;
  const open = (known: unknown): RememberedConversations =>
    new RememberedConversations({
      stored: known,
      store: (losses) => (stored = losses),
      isConversation: (conversation) => conversation !== 'trial',
    });
  const reopen = (): RememberedConversations => open(JSON.parse(JSON.stringify(stored)));

  beforeEach(() => (stored = undefined));

  it('a third conversation is expected after two with a server, over windows', () => {
    const first = open(undefined);
    for (const conversation of ['d1', 'd1', 'trial']) first.of('a').set(conversation, '');
    assert.equal(first.expectsMore('a'), false);
    const second = reopen();
    second.of('a').set('d2', '');
    assert.equal(second.expectsMore('a'), true);
    assert.equal(second.expectsMore('b'), false);
  });

  it('a conversation has lost its instance when the next window opens, and an earlier loss keeps its cause (X4)', () => {
    const before = open(undefined).of('a');
    before.set('trial', '');
    assert.equal(stored, undefined);
    before.set('d1', '');
    before.set('d2', 'it crashed');
    const after = reopen().of('a');
    assert.deepEqual(
      ['d1', 'd2', 'trial', 'd3'].map((conversation) => after.get(conversation)),
      ['MCP Toolsets was started again', 'it crashed', undefined, undefined],
    );
  });

  it('a stored value of another form counts for nothing', () => {
    for (const known of [null, [], 'text', { a: '9', b: null, c: { d1: 1, d2: {} }, d: 2 }]) {
      for (const server of ['a', 'b', 'c', 'd'])
        assert.equal(open(known).expectsMore(server), false);
    }
  });

  it('the least recently used servers and conversations are forgotten', () => {
    const known = open({ first: { d: '' }, second: { d: '' } });
    known.of('first').set('d', '');
    for (let server = 0; server < 199; server++) known.of(`s${server}`).set('d', '');
    assert.deepEqual(Object.keys(stored as object).slice(0, 2), ['first', 's0']);
    for (let conversation = 0; conversation < 200; conversation++)
      known.of('s0').set(`n${conversation}`, '');
    assert.deepEqual([known.of('s0').get('d'), known.of('s0').get('n0')], [undefined, '']);
  });
});
