/** What a definition of a tool may have mirrored in headers, and what not (X8). */
import assert from 'node:assert/strict';
import { mirroredParams, RequestHeaders } from '../../../../src/core/connections/eras/requestHeaders.js';

const text = (header: unknown): object => ({ type: 'string', 'x-mcp-header': header });
const of = (properties: object, more: object = {}): unknown => mirroredParams({ type: 'object', properties, ...more });

describe('mirrored parameters (X8)', () => {
  it('are found wherever properties alone lead to them', () => {
    const deep = { type: 'object', properties: { b: { type: 'integer', 'x-mcp-header': 'B' } } };
    assert.deepEqual(of({ a: text('A'), deep, plain: { default: text('D'), enum: [text('E')] } }), {
      kind: 'right',
      params: [
        { header: 'A', path: ['a'] },
        { header: 'B', path: ['deep', 'b'] },
      ],
    });
    assert.deepEqual(mirroredParams(undefined), { kind: 'right', params: [] });
  });

  it('make the tool wrong where the specification does not allow them', () => {
    const wrong: unknown[] = [
      of({ a: text('') }),
      of({ a: text('no space') }),
      of({ a: text('line\r\nbreak') }),
      of({ a: text(7) }),
      of({ a: { type: 'number', 'x-mcp-header': 'A' } }),
      of({ a: { type: 'object', 'x-mcp-header': 'A' } }),
      of({ a: text('Same'), b: text('same') }),
      of({ a: { type: 'array', items: text('A') } }),
      of({ a: { anyOf: [text('A')] } }),
      of({}, { $defs: { a: text('A') } }),
      mirroredParams({ type: 'string', 'x-mcp-header': 'Root' }),
    ];
    for (const one of wrong) assert.equal((one as { kind: string }).kind, 'wrong', JSON.stringify(one));
  });

  it('are left out of a call that has no such value', () => {
    const headers = new RequestHeaders();
    headers.learn({ tools: [{ name: 't', inputSchema: { properties: { a: text('A'), b: text('B') } } }] });
    const call = (args: object): object =>
      headers.of({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 't', arguments: args } });
    const common = { 'mcp-method': 'tools/call', 'mcp-name': 't' };
    assert.deepEqual(call({ a: null, b: { c: 1 } }), common);
    assert.deepEqual(call({ a: '', b: 'x' }), { ...common, 'mcp-param-A': '', 'mcp-param-B': 'x' });
    assert.deepEqual(headers.of({ jsonrpc: '2.0', id: 1, method: 'prompts/get', params: { name: 'größe' } }), {
      'mcp-method': 'prompts/get',
      'mcp-name': '=?base64?Z3LDtsOfZQ==?=',
    });
    assert.deepEqual(headers.of({ jsonrpc: '2.0', id: 1, method: 'tools/list' }), { 'mcp-method': 'tools/list' });
  });
});
