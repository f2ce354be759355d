import assert from 'node:assert/strict';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { nextEvent } from '../../../src/core/base/events.js';
import { listing } from '../../support/fakes/fakeConnector.js';
import { file, hostStage } from '../host/stage.js';

const outputSchema = {
  type: 'object' as const,
  properties: {
    open: { type: 'number' },
    by: { $ref: '#/$defs/name' },
    marks: { type: 'object' },
  },
  required: ['open'],
  $defs: { name: { type: 'string' } },
};
const content = [{ type: 'text' as const, text: '3 open' }];

describe('results and the output schema of their tool (N7c)', () => {
  const stage = hostStage();

  /** Calls the tool, and resolves to its result and the problems after it. */
  async function called(structuredContent: unknown, more: object = {}, shown = structuredContent) {
    const edited = stage.edit(file({ a: 'command: a, truely-stateless: true' }));
    const { tools, malformed } = listing('count', 'other');
    const withSchema = tools.map((tool) => ({ ...tool, outputSchema }));
    const connection = (await stage.connector.nextConnect()).succeed({
      tools: withSchema,
      malformed,
    });
    await edited;
    const result = {
      content,
      ...more,
      ...(structuredContent !== undefined && { structuredContent }),
    };
    const call = stage.call('a', 'count');
    (await connection.nextCall()).answer({ kind: 'result', result: result as CallToolResult });
    const outcome = await call;
    for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
    const reached = shown === undefined ? result : { ...result, structuredContent: shown };
    assert.deepEqual(outcome.kind === 'result' && outcome.result, reached);
    return stage.host.snapshot.problems.map(({ code, tool, server }) => [code, server, tool]);
  }

  const broken = [['output-schema-broken', 'a', 'count']];
  for (const [name, structure, more] of [
    ['no structure', undefined, {}],
    ['a property of another type', { open: 'three' }, {}],
    ['a property of another type behind a reference', { open: 3, by: 4 }, {}],
    ['a structure without a required property', {}, {}],
    ['a structure as text', '{"open":3}', {}],
    ['a structure that is null', null, {}],
  ] as const)
    it(`a result with ${name} is a problem of its server, and reaches the client`, async () => {
      assert.deepEqual(await called(structure, more), broken);
    });

  it('an empty list for an empty object of the structure is no problem (X3e)', async () => {
    assert.deepEqual(await called({ open: 3, marks: [] }, {}, { open: 3, marks: {} }), []);
  });

  it('a result that fits is no problem', async () => {
    assert.deepEqual(await called({ open: 3, by: 'me', more: true }), []);
  });

  it('an error without a structure is no problem', async () => {
    assert.deepEqual(await called(undefined, { isError: true }), []);
  });

  /** Calls the tool, whose server answers with a task, and resolves to the problems at its end. */
  async function byTask(result: object, way: 'asked' | 'told'): Promise<string[]> {
    const edited = stage.edit(file({ a: 'command: a' }));
    const { tools, malformed } = listing('count');
    const connection = (await stage.connector.nextConnect()).succeed({
      tools: tools.map((tool) => ({ ...tool, outputSchema })),
      malformed,
    });
    await edited;
    const call = stage.call('a', 'count');
    const task = { taskId: '1', status: 'working', ttlMs: null };
    const begun = { ...task, resultType: 'task', content: [] };
    (await connection.nextCall()).answer({ kind: 'result', result: begun });
    await call;
    const done = { ...task, status: 'completed', result };
    connection.respond = () => ({ kind: 'result', result: done });
    const { signal } = new AbortController();
    const params = { taskId: '1' };
    if (way === 'told') connection.taskUpdated.fire(done);
    else
      await stage.host.request({
        toolset: 'a',
        conversation: 'd1',
        method: 'tasks/get',
        params,
        signal,
      });
    for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
    return stage.codes();
  }

  for (const way of ['asked', 'told'] as const)
    for (const [name, result, codes] of [
      ['fits', { content, structuredContent: { open: 3 } }, []],
      ['is an error', { content, isError: true }, []],
      ['breaks it', { content, structuredContent: { open: '3' } }, ['output-schema-broken']],
      ['has no structure', { content }, ['output-schema-broken']],
    ] as const)
      it(`a result of a task that ${name} is judged by the schema when the client is ${way}`, async () => {
        assert.deepEqual(await byTask(result, way), codes);
      });

  it('the problem ends when the server starts again', async () => {
    assert.deepEqual(await called(undefined), broken);
    const restarted = stage.host.restart('a');
    (await stage.connector.nextConnect()).succeed(listing('count'));
    const ended = nextEvent(stage.host.onDidChange, ({ problems }) => problems.length === 0);
    await restarted;
    await ended;
  });
});
