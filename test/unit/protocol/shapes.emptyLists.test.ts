import assert from 'node:assert/strict';
import { atOnce } from '../../../src/core/base/turns.js';
import { parseMessages, parsePayload } from '../../../src/core/protocol/jsonRpc.js';
import {
  presentAnswer,
  presentParams,
  presentResult,
  rightPrompt,
  rightResult,
  rightStructure,
  rightTool,
} from '../../../src/core/protocol/shapes.js';
import { metaKeys } from '../../../src/core/protocol/versions.js';

describe('an empty list in place of an empty object (X3e)', () => {
  it('the result of a server, the parameters of a message and the answer of a client are objects', () => {
    const read = (fields: object) =>
      parseMessages(JSON.stringify({ jsonrpc: '2.0', ...fields }))?.[0] as object;
    assert.deepEqual(read({ id: 1, result: [] }), { jsonrpc: '2.0', id: 1, result: {} });
    assert.deepEqual(read({ method: 'n', params: [] }), {
      jsonrpc: '2.0',
      method: 'n',
      params: {},
    });
    const asked = (fields: object) => {
      const payload = parsePayload(JSON.stringify({ jsonrpc: '2.0', id: 1, ...fields }));
      assert.equal(payload.kind, 'single');
      return payload.message;
    };
    assert.deepEqual(asked({ method: 'ping', params: [] }), {
      kind: 'request',
      id: 1,
      method: 'ping',
      params: {},
    });
    assert.deepEqual(asked({ result: [] }), { kind: 'response', id: 1, result: {} });
    assert.equal(asked({ method: 'ping', params: [1] }).kind, 'invalid');
  });

  for (const [method, given, gives] of [
    ['tools/call', { name: 'a', arguments: [] }, { name: 'a', arguments: {} }],
    ['tools/call', { arguments: { list: [] } }, { arguments: { list: [] } }],
    ['tools/call', { arguments: [1] }, { arguments: [1] }],
    ['prompts/get', { arguments: [] }, { arguments: {} }],
    ['completion/complete', { context: [] }, { context: {} }],
    ['completion/complete', { context: { arguments: [] } }, { context: { arguments: {} } }],
    ['ping', { _meta: [] }, { _meta: {} }],
    ['tools/call', { inputResponses: [] }, { inputResponses: {} }],
    [
      'initialize',
      { capabilities: { roots: [], sampling: { tools: [] }, elicitation: { form: [] } } },
      { capabilities: { roots: {}, sampling: { tools: {} }, elicitation: { form: {} } } },
    ],
    ['initialize', { capabilities: [] }, { capabilities: {} }],
    [
      'ping',
      { _meta: { [metaKeys.clientCapabilities]: { extensions: { ui: { mimeTypes: [] } } } } },
      { _meta: { [metaKeys.clientCapabilities]: { extensions: { ui: { mimeTypes: [] } } } } },
    ],
    [
      'ping',
      { _meta: { [metaKeys.clientCapabilities]: [] } },
      { _meta: { [metaKeys.clientCapabilities]: {} } },
    ],
    [
      'elicitation/create',
      { requestedSchema: { type: 'object', properties: [] } },
      { requestedSchema: { type: 'object', properties: {} } },
    ],
    [
      'sampling/createMessage',
      {
        messages: [{ role: 'assistant', content: { type: 'tool_use', input: [] } }],
        metadata: [],
        modelPreferences: [],
        toolChoice: [],
      },
      {
        messages: [{ role: 'assistant', content: { type: 'tool_use', input: {} } }],
        metadata: {},
        modelPreferences: {},
        toolChoice: {},
      },
    ],
  ] as const) {
    it(`in the parameters of ${method}: ${JSON.stringify(given)}`, () => {
      assert.deepEqual(presentParams(method, given), gives);
    });
  }

  it('in results and answers, and a list of the protocol stays a list', () => {
    assert.deepEqual(
      presentResult({
        capabilities: { tools: [], logging: [] },
        inputRequests: [],
        tools: [],
        _meta: [],
      }),
      { capabilities: { tools: {}, logging: {} }, inputRequests: {}, tools: [], _meta: {} },
    );
    assert.deepEqual(presentAnswer({ action: 'accept', content: [] }), {
      action: 'accept',
      content: {},
    });
    assert.deepEqual(presentAnswer({ role: 'assistant', content: [] }), {
      role: 'assistant',
      content: [],
    });
    assert.deepEqual(rightResult({ content: [], completion: [] }), {
      content: [],
      completion: { values: [] },
    });
    const [block] = (
      rightResult({ content: [{ type: 'text', text: 'a', annotations: [], _meta: [] }] }) as {
        content: object[];
      }
    ).content;
    assert.deepEqual(block, { type: 'text', text: 'a', annotations: {}, _meta: {} });
  });

  it('in tools and prompts, at any depth of a schema, and lists of names and values stay lists', () => {
    const given = {
      name: 'a',
      annotations: [],
      execution: [],
      _meta: [],
      inputSchema: {
        type: 'object',
        properties: {
          any: [],
          deep: { type: 'array', items: [], default: [], examples: [[]], enum: [[]] },
        },
        additionalProperties: [],
        required: [],
        anyOf: [[]],
        dependentRequired: { any: [] },
        $defs: { A: [] },
      },
    };
    const read = rightTool(given);
    assert.deepEqual(read, {
      name: 'a',
      annotations: {},
      execution: {},
      _meta: {},
      inputSchema: {
        type: 'object',
        properties: {
          any: {},
          deep: { type: 'array', items: {}, default: [], examples: [[]], enum: [[]] },
        },
        additionalProperties: {},
        required: [],
        anyOf: [{}],
        dependentRequired: { any: [] },
        $defs: { A: {} },
      },
    });
    assert.equal(rightTool(read), read);
    assert.deepEqual(rightTool({ name: 'a', inputSchema: [] }), {
      name: 'a',
      inputSchema: { type: 'object' },
    });
    assert.deepEqual(rightPrompt({ name: 'a', _meta: [], arguments: [] }), {
      name: 'a',
      _meta: {},
      arguments: [],
    });
  });

  it('in structured content, if its output schema wants an object there', () => {
    const schema = {
      type: 'object',
      properties: {
        map: { type: ['object', 'null'] },
        either: { type: ['object', 'array'] },
        list: { type: 'array', items: { type: 'object', properties: { map: { type: 'object' } } } },
        any: {},
      },
    };
    const read = (value: unknown): unknown => atOnce(rightStructure(value, schema));
    assert.deepEqual(read([]), {});
    const given = {
      map: [],
      either: [],
      list: [[], { map: [] }, { map: { a: [] } }],
      any: [],
      more: [],
    };
    assert.deepEqual(read(given), {
      map: {},
      either: [],
      list: [{}, { map: {} }, { map: { a: [] } }],
      any: [],
      more: [],
    });
    for (const right of [{ list: [] }, { map: {} }, { list: [{}] }, 'text', null, 5, [1]])
      assert.equal(read(right), right);
  });
});
