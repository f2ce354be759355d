import assert from 'node:assert/strict';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { parseMessages, readMessages, shortened } from '../../../src/core/connections/jsonRpc.js';

describe('JSON-RPC as servers write it', () => {
  it('is none', () => {
    for (const text of [
      '',
      'Starting…',
      '{',
      'null',
      '7',
      '"text"',
      '[]',
      '[1]',
      '{}',
      '{"level":"info"}',
      '{"jsonrpc":"1.0","id":1,"result":{}}',
      '{"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":"2.0","result":{}}',
      '[{"jsonrpc":"2.0","method":"ping"},{}]',
    ]) {
      assert.equal(parseMessages(text), undefined, text);
    }
  });

  it('may begin with a byte order mark (X1)', () => {
    const message = { jsonrpc: '2.0', id: 1, result: {} } as const;
    assert.deepEqual(parseMessages(`\uFEFF${JSON.stringify(message)}`), [message]);
    assert.equal(parseMessages('\uFEFF'), undefined);
  });

  const right: [wrote: object, message: object][] = [
    [
      { jsonrpc: '2.0', id: 1, result: { a: 1 } },
      { jsonrpc: '2.0', id: 1, result: { a: 1 } },
    ],
    [
      { jsonrpc: '2.0', id: 'x', result: { _meta: null, a: 1 }, extra: true },
      { jsonrpc: '2.0', id: 'x', result: { a: 1 } },
    ],
    [
      { jsonrpc: '2.0', id: 2, result: { ok: 1 }, error: null },
      { jsonrpc: '2.0', id: 2, result: { ok: 1 } },
    ],
    [
      { jsonrpc: '2.0', id: null, method: 'x', params: null },
      { jsonrpc: '2.0', method: 'x' },
    ],
    [
      { jsonrpc: '2.0', id: 3, method: 'ping', params: [1] },
      { jsonrpc: '2.0', id: 3, method: 'ping' },
    ],
    [
      { jsonrpc: '2.0', id: 4, error: { code: -1, message: 'no', data: { a: 1 }, more: 1 } },
      { jsonrpc: '2.0', id: 4, error: { code: -1, message: 'no', data: { a: 1 } } },
    ],
    [
      { jsonrpc: '2.0', id: 4, error: 'just words' },
      { jsonrpc: '2.0', id: 4, error: { code: -32603, message: 'just words' } },
    ],
    [
      { jsonrpc: '2.0', id: 4, error: { code: 'E1', message: 5 } },
      { jsonrpc: '2.0', id: 4, error: { code: -32603, message: '5' } },
    ],
    [
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } },
      { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' } },
    ],
    [
      { jsonrpc: '2.0', id: 5, result: [1] },
      { jsonrpc: '2.0', id: 5, error: { code: -32603, message: 'The answer has a result that is not an object: [1]' } },
    ],
  ];
  for (const [wrote, message] of right) {
    it(`is made fit for the SDK: ${JSON.stringify(wrote)}`, () => {
      const [read] = readMessages(wrote) ?? [];
      assert.deepEqual(read, message);
      assert(JSONRPCMessageSchema.safeParse(read).success);
    });
  }

  it('may come several at a time', () => {
    const two = [
      { jsonrpc: '2.0', method: 'a' },
      { jsonrpc: '2.0', id: 1, result: {} },
    ];
    assert.deepEqual(parseMessages(JSON.stringify(two)), two);
  });

  it('is none among more than 500, which would all be heard in one turn (S2)', () => {
    const many = (count: number): unknown[] => Array.from({ length: count }, () => ({ jsonrpc: '2.0', method: 'a' }));
    assert.equal(readMessages(many(500))?.length, 500);
    assert.equal(readMessages(many(501)), undefined);
  });
});

describe('shortened', () => {
  it('leaves what is short, and cuts between words', () => {
    assert.equal(shortened('one two', 7), 'one two');
    assert.equal(shortened('one two three', 10), 'one two…');
    assert.equal(shortened('{"one":"two","three":4}', 16), '{"one":"two","…');
    assert.equal(shortened('onetwothreefour five', 10), 'onetwothre…');
  });
});
