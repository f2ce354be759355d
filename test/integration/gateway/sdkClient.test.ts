import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { untilAborted } from '../../../src/core/base/events.js';
import { textOutcome, tool } from '../../unit/gateway/fakes.js';
import { startRig, type Rig } from './rig.js';

describe("gateway: the SDK's client", () => {
  let rig: Rig;
  const open: { client: Client; transport: StreamableHTTPClientTransport }[] = [];

  beforeEach(async () => {
    rig = await startRig({ pageSize: 2 });
    rig.backend.set('play', ['a', 'b', 'c'], { instructions: 'Play.' });
  });

  afterEach(async () => {
    for (const { client } of open.splice(0)) await client.close();
    await rig.dispose();
  });

  async function connect(
    toolset = 'play',
    clientKind: 'editor' | 'agent' = 'agent',
  ): Promise<(typeof open)[number]> {
    const { url, headers } = rig.gateway.endpoint(toolset, clientKind);
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    const client = new Client({ name: 'test', version: '1' });
    open.push({ client, transport });
    // The transport's types disagree with the compiler option `exactOptionalPropertyTypes`.
    await client.connect(transport as Parameters<Client['connect']>[0]);
    return { client, transport };
  }

  it('the client of the SDK connects, and pages through the tools', async () => {
    const { client } = await connect();
    assert.deepEqual(client.getServerVersion(), { name: 'play', version: '1.2.3' });
    assert.equal(client.getInstructions(), 'Play.');
    assert.deepEqual(client.getServerCapabilities(), { tools: { listChanged: true }, logging: {} });
    const first = await client.listTools();
    const second = await client.listTools({ cursor: first.nextCursor });
    assert.deepEqual(
      [...first.tools, ...second.tools].map(({ name }) => name),
      ['a', 'b', 'c'],
    );
    assert.equal(second.nextCursor, undefined);
    await client.ping();
    await client.setLoggingLevel('warning');
  });

  it('a cursor from before a change is refused', async () => {
    const { client } = await connect();
    const { nextCursor } = await client.listTools();
    rig.backend.set('play', ['x', 'y', 'z']);
    await assert.rejects(
      client.listTools({ cursor: nextCursor }),
      (error: McpError) => error.code === -32602,
    );
    rig.clock.advance(20);
  });

  it('results arrive as the server gave them, with structured content', async () => {
    const schema = {
      type: 'object' as const,
      properties: { n: { type: 'number' } },
      required: ['n'],
    };
    rig.backend.set('play', [], { tools: [tool('count', { outputSchema: schema })] });
    const result = {
      content: [{ type: 'text' as const, text: 'three' }],
      structuredContent: { n: 3 },
      _meta: { k: 1 },
    };
    rig.backend.answering = () => ({ kind: 'result', result });
    const { client } = await connect();
    await client.listTools();
    assert.deepEqual(await client.callTool({ name: 'count' }), result);
    rig.clock.advance(20);
  });

  it('the calls of a session have one conversation', async () => {
    const [one, two] = [await connect(), await connect()];
    rig.backend.answering = ({ conversation }) => textOutcome(conversation);
    const conversations = [];
    for (const { client } of [one, two, one]) {
      const { content } = await client.callTool({ name: 'a' });
      conversations.push((content as { text: string }[])[0]?.text);
    }
    assert.deepEqual(
      conversations,
      [one, two, one].map(({ transport }) => `mcp-session:${transport.sessionId}`),
    );
  });

  it('the client of the SDK gets list_changed', async () => {
    const { client } = await connect();
    // The GET stream opens later, and brings the missed notifications.
    const told = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    rig.backend.set('play', ['d']);
    rig.clock.advance(20);
    await told;
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['d'],
    );
  });

  it('the client of the SDK gets progress', async () => {
    const { client } = await connect();
    const seen: unknown[] = [];
    const result = client.callTool({ name: 'a' }, undefined, {
      onprogress: (progress) => seen.push(progress),
    });
    const { call, answer } = await rig.backend.nextCall();
    call.onProgress?.({ progress: 1, total: 2, message: 'half' });
    call.onProgress?.({ progress: 2, total: 2 });
    answer(textOutcome('done'));
    await result;
    assert.deepEqual(seen, [
      { progress: 1, total: 2, message: 'half' },
      { progress: 2, total: 2 },
    ]);
  });

  it('the client of the SDK cancels a call', async () => {
    const { client } = await connect();
    const controller = new AbortController();
    const result = assert.rejects(
      client.callTool({ name: 'a' }, undefined, { signal: controller.signal }),
    );
    const { call } = await rig.backend.nextCall();
    const aborted = untilAborted(call.signal);
    controller.abort('enough');
    await Promise.all([result, aborted]);
  });

  it('errors arrive with their code', async () => {
    const { client } = await connect();
    rig.backend.answering = () => ({
      kind: 'error',
      code: -32602,
      message: 'Unknown tool: z',
      data: { a: 1 },
    });
    await assert.rejects(
      client.callTool({ name: 'z' }),
      (error: McpError) =>
        error instanceof McpError && error.code === -32602 && /Unknown tool: z/.test(error.message),
    );
    await assert.rejects(client.listPrompts(), (error: McpError) => error.code === -32601);
  });

  it('the client of the SDK ends its session', async () => {
    const { transport } = await connect();
    assert.equal(rig.gateway.activityOf('play').sessions, 1);
    await transport.terminateSession();
    assert.equal(rig.gateway.activityOf('play').sessions, 0);
  });

  it('an unknown toolset refuses the client of the SDK', async () => {
    await assert.rejects(connect('nobody'));
  });

  it('1,000 tools come in one page, and one more in two', async () => {
    await rig.dispose();
    rig = await startRig();
    const names = Array.from({ length: 1_001 }, (_, n) => `tool_${n}`);
    rig.backend.set('play', names.slice(0, 1_000));
    const { client } = await connect();
    const all = await client.listTools();
    assert.deepEqual([all.tools.length, all.nextCursor], [1_000, undefined]);
    rig.backend.set('play', names);
    const first = await client.listTools();
    assert.equal(first.tools.length, 1_000);
    assert.equal((await client.listTools({ cursor: first.nextCursor })).tools.length, 1);
    rig.clock.advance(20);
  });
});
