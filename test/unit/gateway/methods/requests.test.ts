import assert from 'node:assert/strict';
import { conversationOf } from '../../../../src/core/gateway/conversations/conversationIds.js';
import { upstreamMeta } from '../../../../src/core/gateway/methods/requests.js';

describe('gateway: conversations (G3)', () => {
  it('the editor names a conversation by its id', () => {
    assert.equal(conversationOf({ 'vscode.conversationId': 'c1' }), 'c1');
  });

  for (const [name, meta] of [
    ['no meta', undefined],
    ['no conversation', { progressToken: 1 }],
    ['an empty id', { 'vscode.conversationId': '' }],
    ['an id that is no string', { 'vscode.conversationId': 5 }],
    ['an id that looks like a session', { 'vscode.conversationId': 'mcp-session:other' }],
    ['an id that looks like an address', { 'vscode.conversationId': 'mcp-address:other' }],
    [
      'an id that looks like a thread',
      { 'vscode.conversationId': 'mcp-named:codex-mcp-client:other' },
    ],
  ] as const) {
    it(`a request with ${name} names no conversation`, () =>
      assert.equal(conversationOf(meta), undefined));
  }

  it("the server gets the client's meta without the keys between client and gateway", () => {
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
