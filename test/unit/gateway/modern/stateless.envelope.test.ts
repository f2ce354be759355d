import assert from 'node:assert/strict';
import { readEnvelope } from '../../../../src/core/gateway/modern/stateless.js';
import { metaKeys, modernVersion } from '../../../../src/core/protocol/versions.js';

describe('headers of a request of 2026-07-28', () => {
  it('the header Mcp-Name repeats the name in the body', () => {
    const errorOf = (method: string): string | undefined => {
      const headers = { 'mcp-protocol-version': modernVersion, 'mcp-method': method };
      const _meta = { [metaKeys.protocolVersion]: modernVersion, [metaKeys.clientCapabilities]: {} };
      const envelope = readEnvelope(headers, { kind: 'request', id: 1, method, params: { _meta } }, true);
      return 'fault' in envelope ? envelope.fault.message : undefined;
    };
    for (const method of ['tools/call', 'prompts/get', 'resources/read', 'tasks/get']) {
      assert.equal(errorOf(method), 'The header Mcp-Name is missing.', method);
    }
    for (const method of ['tools/list', 'constructor', '__proto__', 'toString'])
      assert.equal(errorOf(method), undefined);
  });
});
