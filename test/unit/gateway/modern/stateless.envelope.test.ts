import assert from 'node:assert/strict';
import { readEnvelope } from '../../../../src/core/gateway/modern/stateless.js';
import { metaKeys, modernVersion } from '../../../../src/core/protocol/versions.js';

describe('headers of a request of 2026-07-28', () => {
  it('the header Mcp-Name repeats the name in the body', () => {
    const errorOf = (method: string): string | undefined => {
      const headers = { 'mcp-protocol-version': modernVersion, 'mcp-method': method };
      const _meta = {
        [metaKeys.protocolVersion]: modernVersion,
        [metaKeys.clientCapabilities]: {},
      };
      const envelope = readEnvelope(
        headers,
        { kind: 'request', id: 1, method, params: { _meta } },
        true,
      );
      return 'error' in envelope ? envelope.error.message : undefined;
    };
    for (const method of ['tools/call', 'prompts/get', 'resources/read', 'tasks/get']) {
      assert.equal(errorOf(method), 'The header Mcp-Name is missing.', method);
    }
    for (const method of ['tools/list', 'constructor', '__proto__', 'toString'])
      assert.equal(errorOf(method), undefined);
  });

  it('equal capabilities are one object in all requests, unless they are very large', () => {
    const declaredBy = (said: object, knowsTasks = true): unknown => {
      const headers = { 'mcp-protocol-version': modernVersion, 'mcp-method': 'tools/list' };
      const _meta = {
        [metaKeys.protocolVersion]: modernVersion,
        [metaKeys.clientCapabilities]: said,
      };
      const message = { kind: 'request', id: 1, method: 'tools/list', params: { _meta } } as const;
      const envelope = readEnvelope(headers, message, knowsTasks);
      return 'error' in envelope ? assert.fail(envelope.error.message) : envelope.declared;
    };
    assert.equal(declaredBy({ sampling: { tools: {} } }), declaredBy({ sampling: { tools: {} } }));
    assert.notEqual(declaredBy({ sampling: {} }), declaredBy({ sampling: { tools: {} } }));
    const large = (): object => ({ experimental: { text: 'x'.repeat(300_000) } });
    assert.notEqual(declaredBy(large()), declaredBy(large()));
    const withTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    assert.deepEqual(
      [declaredBy(withTasks), declaredBy(withTasks, false)],
      [withTasks, { extensions: {} }],
    );
  });
});
