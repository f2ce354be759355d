import assert from 'node:assert/strict';
import { dialogOf } from '../../../src/core/gateway/dialogs.js';
import { upstreamMeta } from '../../../src/core/gateway/requests.js';

describe('gateway: dialogs (G3)', () => {
  it('a conversation is named by its own id', () => {
    assert.equal(dialogOf({ 'vscode.conversationId': 'c1' }, 's'), 'c1');
  });

  for (const [name, meta] of [
    ['no meta', undefined],
    ['no conversation', { progressToken: 1 }],
    ['an empty id', { 'vscode.conversationId': '' }],
    ['an id that is no string', { 'vscode.conversationId': 5 }],
    ['an id that looks like a session', { 'vscode.conversationId': 'mcp-session:other' }],
  ] as const) {
    it(`with ${name} the session is the dialog`, () => assert.equal(dialogOf(meta, 'mcp-session:s'), 'mcp-session:s'));
  }

  it("the server gets the client's meta without what is private to client and gateway", () => {
    const meta = {
      progressToken: 1,
      'vscode.conversationId': 'c',
      'vscode.requestId': 'r',
      traceparent: '00-x',
      'example.com/k': { a: 1 },
    };
    assert.deepEqual(upstreamMeta(meta), { traceparent: '00-x', 'example.com/k': { a: 1 } });
    assert.equal(upstreamMeta({ progressToken: 1 }), undefined);
    assert.equal(upstreamMeta({}), undefined);
    assert.equal(upstreamMeta(undefined), undefined);
  });
});
