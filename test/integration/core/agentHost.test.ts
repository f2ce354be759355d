/**
 * Sessions of the editor's agent host (G3d). The host gets the editor's own addresses
 * and sends no conversation id. It deletes all sessions when a server is added or removed.
 */
import assert from 'node:assert/strict';
import { createGateway, type Gateway } from '../../../src/core/gateway/http/gateway.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { fixture } from '../../support/core/configText.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';
import { messagesOf } from '../gateway/rawClient.js';

interface Answer {
  readonly status: number;
  readonly session: string | null;
  readonly result: { readonly [key: string]: unknown } | undefined;
}

/** Sends the messages of the editor's Copilot runtime in the same form. */
class HostSession {
  session: string | null = null;
  private id = 0;

  constructor(
    private readonly gateway: Gateway,
    private readonly toolset: string,
    private readonly program = 'copilot-cli',
  ) {}

  async post(
    method: string,
    params: object = {},
    version: string | null = '2025-11-25',
  ): Promise<Answer> {
    const { url, headers } = this.gateway.endpoint(this.toolset, 'editor');
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        // The reloaded window closes the sockets of its predecessor.
        connection: 'close',
        accept: 'application/json, text/event-stream',
        ...(this.session !== null && { 'mcp-session-id': this.session }),
        ...(version !== null && { 'mcp-protocol-version': version }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: this.id++, method, params }),
    });
    const messages = messagesOf(await response.text()) as { result?: Record<string, unknown> }[];
    const { result } = messages.find((message) => message.result) ?? { result: undefined };
    return { status: response.status, session: response.headers.get('mcp-session-id'), result };
  }

  async begin(capabilities: object = {}): Promise<this> {
    const clientInfo = { name: this.program, version: '1' };
    const { session } = await this.post(
      'initialize',
      { protocolVersion: '2025-11-25', capabilities, clientInfo },
      null,
    );
    assert.ok(session);
    this.session = session;
    return this;
  }

  async names(): Promise<string[]> {
    const { result } = await this.post('tools/list');
    return (result?.['tools'] as { name: string }[]).map(({ name }) => name);
  }

  async call(name: string): Promise<string> {
    const { result } = await this.post('tools/call', { name, arguments: {} });
    return (result?.['content'] as { text: string }[]).map(({ text }) => text).join('');
  }

  async delete(): Promise<void> {
    const { url, headers } = this.gateway.endpoint(this.toolset, 'editor');
    const own = {
      ...headers,
      'mcp-session-id': this.session ?? '',
      'mcp-protocol-version': '2025-11-25',
    };
    assert.equal((await fetch(url, { method: 'DELETE', headers: own })).status, 204);
  }
}

describe('core: agent-host sessions of the editor', () => {
  let stage: Stage;
  let clock: FakeClock;
  let gateway: Gateway;
  const goneIfAny = /If it had one before, that one is gone with all that it held/;
  const address = { port: 0, token: 'T'.repeat(43), audience: 'editor' } as const;

  async function open(port = 0): Promise<Gateway> {
    const { backend, log } = stage.core;
    const opened = createGateway(
      { backend, clock, log },
      { version: '0', stable: { ...address, port }, editorName: 'The Editor' },
    );
    await opened.start();
    stage.onDispose(() => opened.dispose());
    return opened;
  }

  beforeEach(async () => {
    stage = await startStage();
    await stage.edit({ a: fixture('plain') });
    clock = new FakeClock();
    gateway = await open();
  });

  afterEach(endStages);

  const begin = (program?: string): Promise<HostSession> =>
    new HostSession(gateway, 'a', program).begin();
  const leased = (): number =>
    stage.instances('a').filter(({ use }) => use.kind === 'leased').length;
  const untilLeased = (count: number): Promise<unknown> =>
    stage.until(() => leased() === count, `${count} leases`);
  const pidIn = (text: string): string => /\d+/.exec(text)?.[0] ?? '';

  it('An agent-host session gives an instance back with a tool of the toolset, named by the note', async () => {
    const session = await begin();
    const release = 'mcp_release_a';
    assert.ok((await session.names()).includes(release));
    assert.match(
      await session.call('pid'),
      /\n\[MCP Toolsets\].*the tool whose name ends in "mcp_release_a"/,
    );
    await untilLeased(1);
    assert.match(await session.call(release), /has ended/);
    await untilLeased(0);
  });

  it('Agent-host sessions do not see the tool of mcp_admin, because it could release nothing there', async () => {
    const admin = await new HostSession(gateway, 'mcp_admin').begin();
    assert.deepEqual(await admin.names(), ['status', 'restart', 'reload']);
    const editor = await new HostSession(gateway, 'mcp_admin', 'The Editor').begin();
    assert.deepEqual(await editor.names(), ['release', 'status', 'restart', 'reload']);
    assert.ok(!(await (await begin('The Editor')).names()).includes('mcp_release_a'));
  });

  it('A deleted agent-host session goes on in the next session of the same program, with its instance (G3k)', async () => {
    const before = await begin();
    const pid = pidIn(await before.call('pid'));
    await before.delete();
    assert.equal(leased(), 1);
    const after = await begin();
    assert.equal(await after.call('pid'), pid, 'without a note, because nothing is gone');
    clock.advance(60_000);
    assert.equal(await after.call('pid'), pid);
  });

  it('A deleted agent-host session without a successor ends its instance after 5 s, and a later session is notified (G3k)', async () => {
    const session = await begin();
    await session.call('pid');
    await session.delete();
    await (await begin('another program')).call('pid');
    assert.equal(leased(), 2);
    clock.advance(5_000);
    await untilLeased(1);
    assert.match(await (await begin()).call('pid'), goneIfAny);
  });

  it('Agent-host sessions that start over after a window reload are notified once about lost instances', async () => {
    await (await begin()).call('pid');
    await gateway.dispose();
    gateway = await open();
    const after = await begin();
    assert.match(await after.call('pid'), goneIfAny);
    assert.doesNotMatch(await after.call('pid'), /MCP Toolsets/);
    await after.call('mcp_release_a');
    assert.doesNotMatch(await after.call('pid'), goneIfAny);
  });

  it('Two agent-host conversations are never confused: each is notified about its lost instance', async () => {
    const [one, two] = [await begin(), await begin()];
    const pids = [pidIn(await one.call('pid')), pidIn(await two.call('pid'))];
    await one.delete();
    await two.delete();
    for (const again of [await begin(), await begin()]) {
      const text = await again.call('pid');
      assert.ok(!pids.includes(pidIn(text)), text);
      assert.match(text, goneIfAny);
    }
    clock.advance(5_000);
    await untilLeased(2);
  });

  it('Agent-host sessions keep their id after a window reload and are notified about lost instances', async () => {
    const session = await begin();
    await session.call('pid');
    const { port } = gateway;
    await gateway.dispose();
    gateway = await open(port);
    const after = Object.assign(new HostSession(gateway, 'a'), { session: session.session });
    assert.match(await after.call('pid'), /is gone \(the session of its conversation has ended\)/);
    assert.ok((await after.names()).includes('mcp_release_a'));
  });

  it('Agent-host sessions get no answer to `server/discover`, because it would leave their conversations without ids', async () => {
    const { status, result } = await new HostSession(gateway, 'a').post(
      'server/discover',
      {},
      '2026-07-28',
    );
    assert.equal(result, undefined);
    assert.equal(status, 400);
  });

  it('Agent-host sessions show apps with unchanged results, on the instance of the session that opened them (G8)', async () => {
    await stage.edit({
      a: fixture('apps', [], { tools: { whitelist: ['show'], transform: [{ prefix: 'my_' }] } }),
    });
    const extensions = {
      'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] },
    };
    const open = (): Promise<HostSession> => new HostSession(gateway, 'a').begin({ extensions });
    const [one, two] = [await open(), await open()];
    assert.deepEqual(await one.names(), ['my_show', 'mcp_release_a', 'bump', 'note', 'show']);
    const call = async (
      session: HostSession,
      name: string,
    ): Promise<Record<string, unknown> | undefined> =>
      (await session.post('tools/call', { name, arguments: {} })).result;
    const shown = await call(one, 'my_show');
    const { pid } = shown?.['structuredContent'] as { pid: number };
    assert.deepEqual(
      [shown?.['structuredContent'], shown?.['_meta']],
      [{ count: 0, pid }, undefined],
    );
    assert.match(
      JSON.stringify(shown?.['content']),
      /Counted 0 times.*its own instance/,
      'the model is told of its instance',
    );
    await call(two, 'my_show');
    assert.deepEqual((await call(one, 'bump'))?.['structuredContent'], { count: 1, pid });
    assert.equal(((await call(two, 'bump'))?.['structuredContent'] as { count: number }).count, 1);
    const { result } = await one.post('resources/read', { uri: 'ui://counter/page' });
    assert.doesNotMatch(JSON.stringify(result), /mcp-toolsets\/app/);
  });
});
