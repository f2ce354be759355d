import assert from 'node:assert/strict';
import { namedBy, namerOf } from '../../../../src/core/gateway/conversations/conversationIds.js';

const threadId = '01a202d9-aba8-7ba2-8e57-7eb1079dc8f6';

describe('gateway: names of conversations from programs (G3)', () => {
  it('a thread id counts only from Codex', () => {
    assert.equal(namerOf({ name: 'codex-mcp-client', version: '0.169.0' }), 'codex-mcp-client');
    assert.equal(namedBy('codex-mcp-client', { threadId }), threadId);
    assert.equal(namerOf({ name: 'claude-code' }), undefined);
    assert.equal(namerOf(undefined), undefined);
    assert.equal(namedBy('claude-code', { threadId }), undefined);
  });

  it('the id of a chat counts from the editor, by an entry of its own for `connect`', () => {
    const program = namerOf({ name: 'Visual Studio Code', version: '1.139.1' }) ?? assert.fail();
    assert.equal(namedBy(program, { 'vscode.conversationId': threadId }), threadId);
    assert.equal(namedBy(program, { threadId }), undefined);
    assert.equal(namerOf({ name: 'Visual Studio' }), undefined);
    assert.equal(
      namerOf({ name: 'Visual Studio Code' }, true),
      undefined,
      'its own sessions have bare ids',
    );
    assert.equal(namerOf({ name: 'codex-mcp-client' }, true), 'codex-mcp-client');
  });

  for (const wrong of [
    undefined,
    '',
    '1',
    5,
    `${threadId}\n`,
    `${threadId}/x`,
    threadId.slice(1),
    [threadId],
  ]) {
    it(`${JSON.stringify(wrong)} is no thread id, because another conversation may have it too`, () =>
      assert.equal(namedBy('codex-mcp-client', { threadId: wrong }), undefined));
  }
});
