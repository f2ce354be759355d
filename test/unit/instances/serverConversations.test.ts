import assert from 'node:assert/strict';
import { ServerConversations } from '../../../src/core/instances/serverConversations.js';
import { fakeClient } from '../../support/fakes/fakeClient.js';

describe('the conversations of a server and the instances they lost (X4)', () => {
  it('a conversation gets the cause of each loss once, and otherwise the news that its instance is new', () => {
    const conversations = new ServerConversations();
    assert.deepEqual(conversations.newsOfLease('a', undefined), { kind: 'new' });
    conversations.losses.set('a', 'it crashed');
    assert.deepEqual(conversations.newsOfLease('b', undefined), { kind: 'new' });
    assert.deepEqual(conversations.newsOfLease('a', undefined), {
      kind: 'replaced',
      cause: 'it crashed',
    });
    assert.deepEqual(conversations.newsOfLease('a', undefined), { kind: 'new' });
  });

  it('a conversation learns once that it lost its instance to a shared one', () => {
    const conversations = new ServerConversations();
    conversations.newsOfLease('a', undefined);
    assert.equal(conversations.newsOfSharing('a'), undefined);
    conversations.losses.set('a', 'it crashed');
    assert.equal(conversations.newsOfSharing('b'), undefined);
    assert.deepEqual(conversations.newsOfSharing('a'), { kind: 'shared', cause: 'it crashed' });
    assert.equal(conversations.newsOfSharing('a'), undefined);
  });

  it('a conversation from elsewhere gets the cause of an earlier or possible loss with its first instance here', () => {
    const conversations = new ServerConversations();
    const lost = fakeClient({ past: { kind: 'lost', why: 'the gateway was started again' } });
    const mayHave = fakeClient({ past: { kind: 'unknown' } });
    assert.deepEqual(conversations.newsOfLease('a', lost), {
      kind: 'replaced',
      cause: 'the gateway was started again',
    });
    assert.deepEqual(conversations.newsOfLease('a', lost), { kind: 'new' });
    assert.deepEqual(conversations.newsOfLease('b', mayHave), { kind: 'newHere' });
    assert.deepEqual(conversations.newsOfLease('b', mayHave), { kind: 'new' });
    conversations.losses.set('a', 'it crashed');
    assert.deepEqual(conversations.newsOfLease('a', lost), {
      kind: 'replaced',
      cause: 'it crashed',
    });
  });
});
