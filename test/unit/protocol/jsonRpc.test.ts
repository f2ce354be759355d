import assert from 'node:assert/strict';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import {
  errorMessage,
  notificationMessage,
  parseMessages,
  parsePayload,
  readMessages,
  resultMessage,
} from '../../../src/core/protocol/jsonRpc.js';
import { allowsBatches, negotiate, protocolVersions } from '../../../src/core/protocol/versions.js';

function parsed(value: unknown): unknown {
  const payload = parsePayload(JSON.stringify(value));
  assert.equal(payload.kind, 'single');
  return payload.message;
}

describe('JSON-RPC messages', () => {
  it('messages are read by their kind', () => {
    assert.deepEqual(parsed({ jsonrpc: '2.0', id: 1, method: 'ping' }), {
      kind: 'request',
      id: 1,
      method: 'ping',
      params: undefined,
    });
    assert.deepEqual(parsed({ jsonrpc: '2.0', id: 'a', method: 'x', params: { b: 1 } }), {
      kind: 'request',
      id: 'a',
      method: 'x',
      params: { b: 1 },
    });
    assert.deepEqual(parsed({ jsonrpc: '2.0', method: 'n' }), {
      kind: 'notification',
      method: 'n',
      params: undefined,
    });
    assert.deepEqual(parsed({ jsonrpc: '2.0', id: 7, result: {} }), {
      kind: 'response',
      id: 7,
      result: {},
    });
    assert.deepEqual(parsed({ jsonrpc: '2.0', id: null, error: { code: 1, message: '' } }), {
      kind: 'response',
      id: null,
      error: { code: 1, message: '' },
    });
    assert.deepEqual(parsed({ jsonrpc: '2.0', id: 7, result: 5 }), { kind: 'response', id: 7 });
  });

  for (const [name, value, id, code] of [
    ['a number', 5, null, -32600],
    ['null', null, null, -32600],
    ['another version', { jsonrpc: '1.0', id: 1, method: 'x' }, 1, -32600],
    ['no version', { id: 'a', method: 'x' }, 'a', -32600],
    ['no method', { jsonrpc: '2.0', id: 1 }, 1, -32600],
    ['a method that is a number', { jsonrpc: '2.0', id: 1, method: 5 }, 1, -32600],
    ['an id that is null', { jsonrpc: '2.0', id: null, method: 'x' }, null, -32600],
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'x' }, null, -32600],
    ['params by position', { jsonrpc: '2.0', id: 1, method: 'x', params: [1] }, 1, -32602],
  ] as const) {
    it(`${name} is an invalid message`, () => {
      const message = parsed(value) as { kind: string; id: unknown; error: { code: number } };
      assert.deepEqual([message.kind, message.id, message.error.code], ['invalid', id, code]);
    });
  }

  it('fields of a client that are null count as absent (X3)', () => {
    assert.deepEqual(parsed({ jsonrpc: '2.0', id: 1, method: 'x', params: null }), {
      kind: 'request',
      id: 1,
      method: 'x',
      params: undefined,
    });
    const params = {
      name: 'a',
      arguments: null,
      cursor: null,
      _meta: { progressToken: null, own: null },
    };
    const read = parsed({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }) as {
      params: unknown;
    };
    assert.deepEqual(read.params, { name: 'a', _meta: { own: null } });
    assert.deepEqual(
      parsed({ jsonrpc: '2.0', id: 7, method: null, result: { action: 'decline', content: null } }),
      {
        kind: 'response',
        id: 7,
        result: { action: 'decline' },
      },
    );
  });

  it('a batch is read entry by entry', () => {
    const payload = parsePayload('[{"jsonrpc":"2.0","id":1,"method":"ping"}, 3]');
    assert.equal(payload.kind, 'batch');
    assert.deepEqual(
      payload.messages.map(({ kind }) => kind),
      ['request', 'invalid'],
    );
  });

  it('a batch of more than 500 messages is refused, because one turn would handle all of them (S2b)', () => {
    const batch = (count: number) =>
      parsePayload(JSON.stringify(Array.from({ length: count }, () => ping)));
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    assert.equal(batch(500).kind, 'batch');
    assert.deepEqual(batch(501), {
      kind: 'unreadable',
      error: { code: -32600, message: 'The batch has more than 500 messages.' },
    });
  });

  it('an empty batch and invalid JSON cannot be read', () => {
    for (const [text, code] of [
      ['[]', -32600],
      ['', -32700],
      ['{"jsonrpc":', -32700],
    ] as const) {
      const payload = parsePayload(text);
      assert.equal(payload.kind, 'unreadable');
      assert.equal(payload.error.code, code);
    }
  });

  it('messages are written as JSON-RPC', () => {
    assert.equal(
      resultMessage('a"b', '{"x":1}'),
      '{"jsonrpc":"2.0","id":"a\\"b","result":{"x":1}}',
    );
    assert.equal(
      errorMessage(null, { code: -1, message: 'm', data: [1] }),
      '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m","data":[1]}}',
    );
    assert.equal(
      errorMessage(1, { code: -1, message: 'm' }),
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}',
    );
    assert.equal(notificationMessage('n'), '{"jsonrpc":"2.0","method":"n"}');
  });
});

describe('JSON-RPC messages of servers', () => {
  it('texts of other kinds are not JSON-RPC', () => {
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

  it('a message may begin with a byte order mark', () => {
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
      {
        jsonrpc: '2.0',
        id: 6,
        result: { tools: null, nextCursor: null, isError: null, ttl: null },
      },
      { jsonrpc: '2.0', id: 6, result: { tools: [], ttl: null } },
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
      {
        jsonrpc: '2.0',
        id: 5,
        error: { code: -32603, message: 'The answer has a result that is not an object: [1]' },
      },
    ],
  ];
  for (const [wrote, message] of right) {
    it(`a message is made valid for the SDK: ${JSON.stringify(wrote)}`, () => {
      const [read] = readMessages(wrote) ?? [];
      assert.deepEqual(read, message);
      assert(JSONRPCMessageSchema.safeParse(read).success);
    });
  }

  it('one text may have several messages', () => {
    const two = [
      { jsonrpc: '2.0', method: 'a' },
      { jsonrpc: '2.0', id: 1, result: {} },
    ];
    assert.deepEqual(parseMessages(JSON.stringify(two)), two);
  });

  it('more than 500 messages in one text are refused, because one turn would handle all of them (S2b)', () => {
    const many = (count: number): unknown[] =>
      Array.from({ length: count }, () => ({ jsonrpc: '2.0', method: 'a' }));
    assert.equal(readMessages(many(500))?.length, 500);
    assert.equal(readMessages(many(501)), undefined);
  });
});

describe('protocol versions', () => {
  it('the negotiated version is the requested one, or the newest', () => {
    for (const version of protocolVersions) assert.equal(negotiate(version), version);
    assert.equal(negotiate('2099-01-01'), '2025-11-25');
    assert.equal(negotiate(''), '2025-11-25');
  });

  it('two protocol versions have batches', () => {
    assert.deepEqual(protocolVersions.filter(allowsBatches), ['2025-03-26', '2024-11-05']);
  });
});
