/** Rule X8b: the headers of requests. */
import assert from 'node:assert/strict';
import { RequestHeaders } from '../../../../src/core/connections/eras/requestHeaders.js';

const text = (header: unknown): object => ({ type: 'string', 'x-mcp-header': header });

describe('the headers of a request (X8b)', () => {
  it('the headers of a request mirror its parameters, and name its target', () => {
    const headers = new RequestHeaders();
    headers.learn({
      tools: [{ name: 't', inputSchema: { properties: { a: text('A'), b: text('B') } } }],
    });
    const call = (args: object): object =>
      headers.of({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 't', arguments: args },
      });
    const common = { 'mcp-method': 'tools/call', 'mcp-name': 't' };
    assert.deepEqual(call({ a: null, b: { c: 1 } }), common);
    assert.deepEqual(call({ a: '', b: 'x' }), { ...common, 'mcp-param-A': '', 'mcp-param-B': 'x' });
    assert.deepEqual(
      headers.of({ jsonrpc: '2.0', id: 1, method: 'prompts/get', params: { name: 'größe' } }),
      {
        'mcp-method': 'prompts/get',
        'mcp-name': '=?base64?Z3LDtsOfZQ==?=',
      },
    );
    assert.deepEqual(headers.of({ jsonrpc: '2.0', id: 1, method: 'tools/list' }), {
      'mcp-method': 'tools/list',
    });
    // Node throws at an invalid header, and the server would seem unreachable.
    assert.deepEqual(headers.of({ jsonrpc: '2.0', id: 1, method: 'ü/x\n' }), {
      'mcp-method': '=?base64?w7wveAo=?=',
    });
  });
});
