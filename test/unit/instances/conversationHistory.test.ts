import assert from 'node:assert/strict';
import { ConversationHistory } from '../../../src/core/instances/conversationHistory.js';
import { fakeClient } from '../../support/fakes/fakeClient.js';

describe('what a conversation is told of the instance that it is given (L3, X4)', () => {
  it('each loss is told once, and otherwise that the instance is new', () => {
    const history = new ConversationHistory();
    assert.deepEqual(history.meets('a', undefined), { kind: 'new' });
    history.loses('a', 'it crashed');
    assert.deepEqual(history.meets('b', undefined), { kind: 'new' });
    assert.deepEqual(history.meets('a', undefined), { kind: 'replaced', cause: 'it crashed' });
    assert.deepEqual(history.meets('a', undefined), { kind: 'new' });
  });

  it('a conversation learns what it lost before it was known here, or may have lost, until it has had an instance here', () => {
    const history = new ConversationHistory();
    const lost = fakeClient({ lostBefore: 'the gateway was started again' });
    const mayHave = fakeClient({ mayHaveLost: true });
    assert.deepEqual(history.meets('a', lost), { kind: 'replaced', cause: 'the gateway was started again' });
    assert.deepEqual(history.meets('a', lost), { kind: 'new' });
    assert.deepEqual(history.meets('b', mayHave), { kind: 'newHere' });
    assert.deepEqual(history.meets('b', mayHave), { kind: 'new' });
    history.loses('a', 'it crashed');
    assert.deepEqual(history.meets('a', lost), { kind: 'replaced', cause: 'it crashed' });
  });
});
