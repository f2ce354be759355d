import assert from 'node:assert/strict';
import {
  CallToolResultSchema,
  CompleteResultSchema,
  CreateMessageRequestParamsSchema,
  ElicitRequestFormParamsSchema,
  GetPromptResultSchema,
  ListPromptsResultSchema,
  LoggingMessageNotificationParamsSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
  ReadResourceResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';
import {
  lostParts,
  presentParams,
  presentResult,
  rightPrompt,
  rightResource,
  rightResult,
  rightTemplate,
  rightTool,
} from '../../../src/core/protocol/shapes.js';

const odd = fc.oneof(
  fc.constantFrom(
    null,
    true,
    0,
    2,
    -1,
    '',
    'true',
    '48x48',
    '2025-02-31T00:00:00Z',
    '2025-02-28T00:00:00Z',
    [],
    {},
  ),
  fc.jsonValue({ maxDepth: 2 }),
) as fc.Arbitrary<unknown>;
const maybe = (...right: unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof(odd, fc.constantFrom(...right));
const record = (
  optional: Record<string, fc.Arbitrary<unknown>>,
  required: Record<string, fc.Arbitrary<unknown>> = {},
): fc.Arbitrary<Record<string, unknown>> =>
  fc.record({ ...optional, ...required }, { requiredKeys: Object.keys(required) });
const listOf = (entry: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.array(fc.oneof(odd, entry), { maxLength: 3 }) },
    { weight: 1, arbitrary: odd },
  );
const orOdd = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 3, arbitrary: value }, { weight: 1, arbitrary: odd });

const text = maybe('x');
const flag = maybe(true, false);
const meta = maybe({ a: null });
const icon = record({ src: text, mimeType: text, sizes: listOf(text), theme: maybe('dark') });
const annotations = orOdd(
  record({ audience: listOf(maybe('user')), priority: odd, lastModified: odd }),
);
const shown = { title: text, description: text, icons: listOf(icon), _meta: meta };
const hints = record({
  title: text,
  readOnlyHint: flag,
  destructiveHint: flag,
  idempotentHint: flag,
  openWorldHint: flag,
});
const name = fc.constant('n');
const schema = fc.constant({ type: 'object' });
const tool = record(
  {
    ...shown,
    annotations: orOdd(hints),
    execution: orOdd(record({ taskSupport: maybe('optional') })),
  },
  { name, inputSchema: schema },
);
// The list takes only prompts with named arguments.
const argument = record({ title: text, description: text, required: flag }, { name });
const prompt = record({ ...shown, arguments: fc.array(argument, { maxLength: 3 }) }, { name });
const described = { ...shown, mimeType: text, annotations };
const resource = record({ ...described, size: odd }, { name, uri: fc.constant('a:b') });
const template = record(described, { name, uriTemplate: fc.constant('a:{b}') });

const kinds = {
  tool: [tool, rightTool, (each: unknown) => ListToolsResultSchema.safeParse({ tools: [each] })],
  prompt: [
    prompt,
    rightPrompt,
    (each: unknown) => ListPromptsResultSchema.safeParse({ prompts: [each] }),
  ],
  resource: [
    resource,
    rightResource,
    (each: unknown) => ListResourcesResultSchema.safeParse({ resources: [each] }),
  ],
  template: [
    template,
    rightTemplate,
    (each: unknown) => ListResourceTemplatesResultSchema.safeParse({ resourceTemplates: [each] }),
  ],
} as const;

const hasOddTitle = ({ arguments: given }: Record<string, unknown>): boolean =>
  Array.isArray(given) &&
  given.some(({ title = '' }: { title?: unknown }) => typeof title !== 'string');

describe('entries of lists with fields that do not fit (X3)', () => {
  for (const [kind, [entries, right, parse]] of Object.entries(kinds)) {
    it(`a ${kind} with odd optional fields is read by the schema of the SDK, and a right one is the same object`, () => {
      fc.assert(
        fc.property(entries, (entry) => {
          const before = JSON.stringify(entry);
          const read = right(entry);
          const { success, error } = parse(read);
          assert.ok(success, `${before} became ${JSON.stringify(read)}: ${error?.message ?? ''}`);
          assert.equal(right(read), read);
          assert.equal(JSON.stringify(entry), before);
          // The SDK takes any title of an argument, and the protocol only a text.
          const isRight = parse(entry).success && !before.includes('null') && !hasOddTitle(entry);
          if (isRight) assert.equal(read, entry);
        }),
        { numRuns: 500 },
      );
    });
  }

  it('a field that does not fit costs only that field', () => {
    const read = rightTool({
      name: 'a',
      inputSchema: {
        type: 'object',
        properties: { x: { type: 'string', description: null, default: null } },
      },
      annotations: {
        title: 'A',
        readOnlyHint: null,
        destructiveHint: 'true',
        idempotentHint: true,
        more: 1,
      },
      icons: [{ src: 'i', sizes: '48x48' }, { src: 5 }, null],
      more: null,
    });
    assert.deepEqual(read, {
      name: 'a',
      inputSchema: { type: 'object', properties: { x: { type: 'string', default: null } } },
      annotations: { title: 'A', idempotentHint: true, more: 1 },
      icons: [{ src: 'i' }],
      more: null,
    });
  });

  it('keywords of schemas that are null count as absent, and values in them stay', () => {
    const x = { enum: null, examples: null, dependencies: { a: null, b: ['c'] }, default: null };
    const read = { dependencies: { b: ['c'] }, default: null };
    const schemaOf = (part: object, values: unknown) =>
      ({ type: 'object', properties: { x: part, y: { enum: values, examples: values } } }) as const;
    for (const key of ['inputSchema', 'outputSchema'] as const) {
      const given = {
        name: 'a',
        inputSchema: { type: 'object' as const },
        [key]: schemaOf(x, [null]),
      };
      assert.deepEqual(rightTool(given)[key], schemaOf(read, [null]));
    }
  });

  it('maps and lists of schemas may be null or empty ones of the other kind', () => {
    const inputSchema = {
      type: 'object',
      properties: [],
      required: {},
      $defs: null,
      additionalProperties: null,
    };
    assert.deepEqual(rightTool({ name: 'a', inputSchema }), {
      name: 'a',
      inputSchema: { type: 'object' },
    });
  });
});

describe('results and parameters with null (X3)', () => {
  const type = (value: string) => ({ type: fc.constant(value) });
  const bytes = fc.oneof(fc.constantFrom(null, 5), fc.constant('YQ=='));
  const contents = record({ uri: text, mimeType: text, _meta: meta, blob: bytes, text });
  const part = fc.oneof(
    record({ annotations, _meta: meta, text }, type('text')),
    record({ annotations, _meta: meta, data: bytes, mimeType: text }, type('image')),
    record({ ...described, size: odd, name: text, uri: text }, type('resource_link')),
    record({ annotations, _meta: meta, resource: orOdd(contents) }, type('resource')),
    record({}, type('video')),
    odd,
  );
  const relatedTask = (value: unknown) => ({ 'io.modelcontextprotocol/related-task': value });
  const oddMeta = fc.constantFrom(relatedTask(null), relatedTask({ taskId: 5 }), {
    progressToken: 0.5,
  });
  const metaOfResult = fc.oneof(meta, oddMeta);
  const message = record({
    role: maybe('user'),
    content: fc.oneof(part, fc.array(part, { maxLength: 3 })),
  });
  const read = (result: Record<string, unknown>) => rightResult(presentResult(result));

  it('a result of a tool is read by the schema of the SDK', () => {
    const results = record({
      isError: flag,
      _meta: metaOfResult,
      content: fc.array(part, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(results, (result) => {
        const { success } = CallToolResultSchema.safeParse(read({ data: 1, ...result }));
        assert.ok(success, JSON.stringify(result));
      }),
      { numRuns: 300 },
    );
  });

  it('messages of a prompt, contents of a resource and completions are read by the schema of the SDK', () => {
    const messages = fc.oneof(
      fc.array(fc.oneof(message, odd), { maxLength: 3 }),
      fc.constant(null),
    );
    const completion = fc.oneof(odd, record({ values: listOf(text), total: odd, hasMore: flag }));
    const results = fc.oneof(
      record({ description: odd, _meta: metaOfResult }, { messages }).map(
        (each) => [GetPromptResultSchema, each] as const,
      ),
      record({}, { contents: fc.array(fc.oneof(contents, odd)) }).map(
        (each) => [ReadResourceResultSchema, each] as const,
      ),
      record({}, { completion }).map((each) => [CompleteResultSchema, each] as const),
    );
    fc.assert(
      fc.property(results, ([parser, result]) => {
        const right = read(result);
        assert.ok(
          parser.safeParse(right).success,
          `${JSON.stringify(result)} became ${JSON.stringify(right)}`,
        );
        assert.equal(read(right), right);
      }),
      { numRuns: 500 },
    );
    assert.deepEqual(read({ completion: { values: ['a', null, 5], total: 1.5 } }), {
      completion: { values: ['a'] },
    });
  });

  it('a message of a prompt with a list becomes one message for each right block of it', () => {
    const [a, b] = ['a', 'b'].map((each) => ({ type: 'text', text: each }));
    const messages = [
      { role: 'user', content: a },
      {
        role: 'assistant',
        content: [a, { type: 'text' }, null, [a], { type: 'video' }, b],
        more: 1,
      },
      { role: 'user', content: [] },
      { role: 'nobody', content: [a] },
      { role: 'user', content: b },
    ];
    const right = [
      { role: 'user', content: a },
      { role: 'assistant', content: a },
      { role: 'assistant', content: b },
      { role: 'user', content: b },
    ];
    assert.ok(GetPromptResultSchema.safeParse(read({ messages })).success);
    assert.deepEqual(read({ messages }), { messages: right });
    assert.deepEqual(lostParts({ messages }), [
      ...[{ type: 'text' }, [a], { type: 'video' }].map((content) => ({
        role: 'assistant',
        content,
      })),
      { role: 'nobody', content: a },
    ]);
    const same = { messages: right };
    assert.equal(rightResult(same), same);
  });

  it('a field of contents that is null costs only that field', () => {
    const contents = [{ uri: 'a:b', text: 'x', blob: null, mimeType: null, _meta: null }, null];
    assert.ok(ReadResourceResultSchema.safeParse(rightResult({ contents })).success);
    assert.deepEqual(rightResult({ contents }), { contents: [{ uri: 'a:b', text: 'x' }] });
  });

  it('requests and messages of servers are read by the schema of the SDK', () => {
    const part = record({ annotations, _meta: meta, text }, type('text'));
    const sampling = record(
      {
        systemPrompt: text,
        temperature: odd,
        stopSequences: listOf(text),
        includeContext: maybe('none'),
        metadata: odd,
        modelPreferences: orOdd(
          record({ hints: listOf(record({ name: text })), costPriority: odd }),
        ),
        toolChoice: orOdd(record({ mode: maybe('auto') })),
      },
      {
        maxTokens: fc.constant(5),
        messages: fc.array(record({ role: maybe('user'), content: part })),
      },
    );
    const bounds = {
      title: text,
      description: text,
      default: odd,
      minLength: odd,
      maximum: odd,
      minItems: odd,
      format: text,
    };
    const fields = ['string', 'number', 'integer', 'boolean'].map((each) =>
      record(bounds, type(each)),
    );
    const choices = { items: fc.constant({ type: 'string', enum: ['a'] }) };
    const choice = record(
      { ...bounds, enumNames: listOf(text) },
      { ...type('string'), enum: fc.constant(['a']) },
    );
    const properties = fc.dictionary(
      fc.constantFrom('a', 'b'),
      fc.oneof(...fields, choice, record(bounds, { ...type('array'), ...choices })),
    );
    const requestedSchema = record(
      { required: fc.constantFrom(null, ['a', null]) },
      { ...type('object'), properties },
    );
    const messages = fc.oneof(
      sampling.map(
        (each) => ['sampling/createMessage', CreateMessageRequestParamsSchema, each] as const,
      ),
      record({ mode: fc.constant(null) }, { message: name, requestedSchema }).map(
        (each) => ['elicitation/create', ElicitRequestFormParamsSchema, each] as const,
      ),
      record({ logger: text }, { level: fc.constant('info'), data: odd }).map(
        (each) => ['notifications/message', LoggingMessageNotificationParamsSchema, each] as const,
      ),
    );
    fc.assert(
      fc.property(messages, ([method, parser, params]) => {
        const right = presentParams(method, params);
        const { success, error } = parser.safeParse(right);
        assert.ok(
          success,
          `${JSON.stringify(params)} became ${JSON.stringify(right)}: ${error?.message ?? ''}`,
        );
        assert.equal(presentParams(method, right), right);
        if (method === 'notifications/message') assert.ok('data' in right);
      }),
      { numRuns: 600 },
    );
  });

  it('null inside of arguments and structured content stays', () => {
    const params = { name: 'a', arguments: { x: null } };
    assert.equal(presentParams('tools/call', params), params);
    const result = { content: [], structuredContent: { x: null } };
    assert.equal(rightResult(presentResult(result)), result);
  });

  it('a log level of a request that is null counts as absent (X3)', () => {
    const _meta = { 'io.modelcontextprotocol/logLevel': null, more: null };
    assert.deepEqual(presentParams('tools/list', { _meta }), { _meta: { more: null } });
  });

  it('the fields of known requests that are null count as absent', () => {
    assert.deepEqual(presentParams('prompts/get', { name: 'a', arguments: { x: null, y: 'z' } }), {
      name: 'a',
      arguments: { y: 'z' },
    });
    const messages = [
      { role: 'user', content: { type: 'text', text: 'x', annotations: null } },
      null,
    ];
    const modelPreferences = { hints: [{ name: null }, null], costPriority: null };
    assert.deepEqual(
      presentParams('sampling/createMessage', { messages, modelPreferences, systemPrompt: null }),
      {
        messages: [{ role: 'user', content: { type: 'text', text: 'x' } }],
        modelPreferences: { hints: [{}] },
      },
    );
    const requestedSchema = {
      type: 'object',
      properties: { a: { type: 'string', title: null } },
      required: null,
    };
    assert.deepEqual(presentParams('elicitation/create', { message: 'm', requestedSchema }), {
      message: 'm',
      requestedSchema: { type: 'object', properties: { a: { type: 'string' } } },
    });
  });
});
