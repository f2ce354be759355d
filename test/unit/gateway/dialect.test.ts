/** Formats of older versions (G2b) beyond the real servers of the integration tests. */
import assert from 'node:assert/strict';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import {
  clientCapabilities,
  enveloped,
  errorIn,
  isToldTo,
  otherResult,
  statusOf,
  clientRequest,
  toolResult,
} from '../../../src/core/gateway/dialect.js';
import { protocolVersions } from '../../../src/core/protocol/versions.js';

describe('formats of older versions', () => {
  it('a client without structures gets a structure without text as its JSON', () => {
    const result: CallToolResult = {
      content: [],
      structuredContent: { sum: 3 },
      isError: false,
      _meta: { a: 1 },
    };
    const text = {
      content: [{ type: 'text', text: '{"sum":3}' }],
      isError: false,
      _meta: { a: 1 },
    };
    assert.deepEqual(toolResult('2025-03-26', result), text);
    assert.deepEqual(toolResult('2025-06-18', result), result);
    assert.equal(toolResult('2025-11-25', result), result);
  });

  it('before 2026-07-28, a client gets a structure other than an object as its JSON (V1b)', () => {
    const said = { type: 'text', text: 'said' } as const;
    for (const structure of [['a'], 'a', 7, false, null]) {
      const result = (...content: CallToolResult['content']): CallToolResult =>
        ({ content, structuredContent: structure, _meta: { a: 1 } }) as unknown as CallToolResult;
      const json = { type: 'text', text: JSON.stringify(structure) } as const;
      for (const version of protocolVersions) {
        assert.deepEqual(toolResult(version, result()), { content: [json], _meta: { a: 1 } });
        assert.deepEqual(toolResult(version, result(said)), { content: [said], _meta: { a: 1 } });
      }
      assert.deepEqual(toolResult('2026-07-28', result(said)), result(said));
    }
    const withIcons = {
      content: [{ type: 'resource_link', uri: 'a:b', name: 'b', icons: [] }],
      structuredContent: [],
    };
    assert.deepEqual(toolResult('2025-11-25', withIcons as unknown as CallToolResult).content, [
      ...withIcons.content,
      { type: 'text', text: '[]' },
    ]);
  });

  it('a sampling message with several parts becomes several messages', () => {
    const parts = ['one', 'two'].map((text) => ({ type: 'text', text }));
    const asked = clientRequest('2025-06-18', 'sampling/createMessage', {
      messages: [{ role: 'user', content: parts }],
      maxTokens: 1,
      tools: [],
    });
    assert.deepEqual(asked, {
      messages: parts.map((content) => ({ role: 'user', content })),
      maxTokens: 1,
    });
  });

  it('a request is refused if the version cannot express it', () => {
    const ask = (field: object) => () =>
      clientRequest('2025-06-18', 'elicitation/create', {
        message: 'Which?',
        requestedSchema: { properties: { field } },
      });
    assert.throws(ask({ type: 'array', items: {} }), { code: -32602, message: /several choices/ });
    assert.deepEqual(ask({ type: 'string', enum: ['a'] })(), {
      message: 'Which?',
      requestedSchema: { properties: { field: { type: 'string', enum: ['a'] } } },
    });
  });

  it('malformed parts pass unchanged', () => {
    const odd = { messages: ['text', { content: 'text' }], contents: [null] };
    assert.deepEqual(otherResult('2024-11-05', odd, false), odd);
    assert.deepEqual(clientRequest('2024-11-05', 'elicitation/create', { requestedSchema: 5 }), {
      requestedSchema: 5,
    });
    assert.deepEqual(clientCapabilities('2024-11-05', { sampling: true, elicitation: {} }), {});
  });

  it('the end of an elicitation by URL is reported only to versions with them', () => {
    const told = (['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const).filter(
      (version) => isToldTo(version, 'notifications/elicitation/complete'),
    );
    assert.deepEqual(told, ['2025-11-25']);
  });

  it('a result has its type and its hints for caches only since 2026-07-28', () => {
    const read = { contents: [], ttlMs: 5000, cacheScope: 'public' };
    const complete = { resultType: 'complete' };
    assert.deepEqual(otherResult('2026-07-28', read, false), { ...read, ...complete });
    const plain = { contents: [] };
    const notKept = { ttlMs: 0, cacheScope: 'private' };
    const odd = [
      {},
      { ttlMs: -1, cacheScope: 'public' },
      { ttlMs: 1.5 },
      { ttlMs: '5000' },
      { cacheScope: 'public' },
    ];
    for (const hints of odd) {
      assert.deepEqual(otherResult('2026-07-28', { ...plain, ...hints }, false), {
        ...plain,
        ...notKept,
        ...complete,
      });
    }
    assert.deepEqual(otherResult('2026-07-28', { ...plain, ttlMs: 9, cacheScope: 'all' }, false), {
      ...plain,
      ...complete,
      ttlMs: 9,
      cacheScope: 'private',
    });
    assert.deepEqual(otherResult('2026-07-28', read, true), { ...plain, ...notKept, ...complete });
    assert.deepEqual(otherResult('2026-07-28', { messages: [] }, true), {
      messages: [],
      ...complete,
    });
    assert.deepEqual(otherResult('2025-11-25', read, false), plain);
    const result = { content: [] };
    assert.equal(toolResult('2026-07-28', result), result);
    const [named, meta] = [{ name: 'us' }, '"_meta":{"name":"us"}'];
    assert.equal(
      enveloped('{"content":[]}', named),
      `{"resultType":"complete",${meta},"content":[]}`,
    );
    assert.equal(
      enveloped('{"content":[]}', named, '"ttlMs":0,'),
      `{"resultType":"complete","ttlMs":0,${meta},"content":[]}`,
    );
  });

  it('since 2026-07-28, a missing resource has the code of a wrong parameter', () => {
    const error = { code: -32002, message: 'none', data: { uri: 'a://b' } };
    assert.deepEqual(errorIn('2026-07-28', error), { ...error, code: -32602 });
    assert.equal(errorIn('2025-11-25', error), error);
    assert.equal(errorIn('2026-07-28', { code: -32042, message: 'pages' }).code, -32603);
  });

  it('since 2026-07-28, a missing capability is a bad request over HTTP', () => {
    const lacks = { code: -32021, message: 'It needs sampling.' };
    assert.deepEqual([statusOf('2026-07-28', lacks), statusOf('2025-11-25', lacks)], [400, 200]);
    assert.equal(statusOf('2026-07-28', { ...lacks, code: -32602 }), 200);
  });
});
