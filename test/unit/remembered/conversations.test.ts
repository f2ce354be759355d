import assert from 'node:assert/strict';
import { ConversationCounts } from '../../../src/core/remembered/conversations.js';

describe('which servers conversations use (P9)', () => {
  let stored: unknown;
  let stores = 0;
  const open = (known: unknown): ConversationCounts =>
    new ConversationCounts({
      stored: known,
      store: (counts) => {
        stored = counts;
        stores++;
      },
      isConversation: (dialog) => dialog !== 'trial',
    });

  beforeEach(() => {
    stored = undefined;
    stores = 0;
  });

  it('expects another after two, over windows, and stores no more than it has to', () => {
    const first = open(undefined);
    first.note('a', 'd1');
    first.note('a', 'trial');
    assert.equal(first.expectsMore('a'), false);
    const second = open(JSON.parse(JSON.stringify(stored)));
    second.note('a', 'd2');
    assert.equal(second.expectsMore('a'), true);
    assert.equal(second.expectsMore('b'), false);
    second.note('a', 'd3');
    assert.equal(stores, 2);
  });

  it('takes nothing that is no count', () => {
    for (const known of [null, [], 'text', { a: '9', b: null, c: {} }]) {
      for (const server of ['a', 'b', 'c']) assert.equal(open(known).expectsMore(server), false);
    }
  });

  it('forgets the server that was noted longest ago', () => {
    const counts = open({ first: 1, second: 1 });
    counts.note('first', 'd');
    for (let server = 0; server < 199; server++) counts.note(`s${server}`, 'd');
    assert.deepEqual(Object.keys(stored as object).slice(0, 2), ['first', 's0']);
  });
});
