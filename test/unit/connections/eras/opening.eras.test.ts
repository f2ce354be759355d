/** Rule X8: connections find the era of a server, and follow its changes. */
import assert from 'node:assert/strict';
import { fakeClient } from '../../../support/fakes/fakeClient.js';
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { LoopShare } from '../../../../src/core/base/turns.js';
import type { LiveConnection } from '../../../../src/core/connections/liveConnection.js';
import { StartTimedOut } from '../../../../src/core/connections/connection.js';
import { openConnection, type Opening } from '../../../../src/core/connections/eras/opening.js';
import { TransportFailure } from '../../../../src/core/failures/transportFailure.js';
import type { ServerTransport } from '../../../../src/core/peer/peer.js';
import type { ServerClient } from '../../../../src/core/protocol/client.js';
import type { ServerOutcome } from '../../../../src/core/protocol/request.js';
import type { Era } from '../../../../src/core/protocol/versions.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';
import { silentLog } from '../../../support/fakes/silentLog.js';

const discovered = { supportedVersions: ['2026-07-28'], capabilities: {} };

class SilentServer {
  readonly sent: string[] = [];
  readonly ids: (string | number)[] = [];
  readonly seen: Era[] = [];
  /** The causes of failures of the transport. */
  readonly failed: string[] = [];
  readonly clock = new FakeClock();
  readonly calls: Promise<ServerOutcome<CallToolResult>>[] = [];
  readonly opening: Promise<Opening>;
  private readonly lastIds = new Map<string, string | number>();
  private readonly transport: ServerTransport;

  private readonly starting = new AbortController();

  /** Opens a connection to a server with scripted messages only. */
  constructor(expected: Era = 'modern') {
    this.transport = {
      hasHeaders: true,
      causeOfEnd: 'It ended.',
      start: () => Promise.resolve(),
      close: () => Promise.resolve(this.transport.onclose?.()),
      fail: (cause) => this.failed.push(cause),
      send: (message) => {
        if ('method' in message) this.sent.push(message.method);
        if ('method' in message && 'id' in message) {
          this.ids.push(message.id);
          this.lastIds.set(message.method, message.id);
        }
        return Promise.resolve();
      },
    };
    this.opening = openConnection({
      transport: this.transport,
      era: { expected, onSeen: (spoken) => this.seen.push(spoken) },
      self: { version: '1', capabilities: {} },
      clock: this.clock,
      share: new LoopShare(this.clock),
      log: silentLog,
      trace: () => false,
      limit: { timeoutMs: 60_000, signal: this.starting.signal },
    });
  }

  /** The time of its start is over. */
  timesOut(): void {
    this.starting.abort(new StartTimedOut());
  }

  /** @param to the method or id of the answered request */
  async says(to: string | number | undefined, message: object): Promise<void> {
    const id = typeof to === 'string' ? (this.lastIds.get(to) ?? to) : to;
    this.transport.onmessage?.({ jsonrpc: '2.0', id, ...message } as JSONRPCMessage);
    await rest();
  }

  async connection(): Promise<LiveConnection> {
    const opening = await this.opening;
    assert.equal(opening.kind, 'opened');
    return (opening as Extract<Opening, { kind: 'opened' }>).connection;
  }

  async call(args?: object, client?: ServerClient): Promise<void> {
    const connection = await this.connection();
    const call = connection.callTool({
      tool: 'a',
      arguments: args as Record<string, unknown> | undefined,
      timeouts: { call: 60_000, callMax: 60_000 },
      signal: new AbortController().signal,
      client,
    });
    this.calls.push(call);
    await rest();
  }
}

/** Returns a server after its answer to server/discover. */
async function modernServer(): Promise<SilentServer> {
  const server = new SilentServer();
  await rest();
  await server.says('server/discover', { result: discovered });
  return server;
}

describe('a server over HTTP that was modern until now (X8a)', () => {
  const refused = (status: number): object => {
    const reason = {
      kind: 'status',
      status,
      body: '',
      contentType: '',
      url: 'http://there/',
    } as const;
    return { error: { code: -32000, message: 'refused', data: new TransportFailure(reason) } };
  };
  const otherVersion = {
    error: { code: -32022, message: 'no', data: { supported: ['2025-11-25'] } },
  };

  async function afterThe(
    answer: object,
    discovery: object,
  ): Promise<{ sent: string[]; seen: Era[]; failed: string[] }> {
    const server = await modernServer();
    await server.call();
    await server.says('tools/call', answer);
    await server.says('server/discover', discovery);
    const { sent, seen, failed } = server;
    return { sent: sent.slice(1), seen, failed };
  }

  it('a refusal like that of a legacy server repeats server/discover, and the connection ends if the server is legacy', async () => {
    const old = { error: { code: -32601, message: 'Method not found' } };
    for (const answer of [refused(400), refused(404), refused(405), otherVersion]) {
      const { sent, seen, failed } = await afterThe(answer, old);
      assert.deepEqual(sent, ['tools/call', 'server/discover']);
      assert.deepEqual(seen, ['modern', 'legacy']);
      assert.deepEqual(failed, ['The server no longer speaks protocol version 2026-07-28.']);
    }
  });

  it('the connection stays if the server still discovers, is unreachable or fails otherwise', async () => {
    const stays = { seen: ['modern'], failed: [] };
    const still = await afterThe(refused(404), { result: discovered });
    assert.deepEqual({ seen: still.seen, failed: still.failed }, stays);
    const away = await afterThe(refused(400), refused(503));
    assert.deepEqual({ seen: away.seen, failed: away.failed }, stays);
    for (const answer of [refused(500), { error: { code: -32602, message: 'no such tool' } }]) {
      const { sent, failed } = await afterThe(answer, { result: discovered });
      assert.deepEqual([sent, failed], [['tools/call'], []]);
    }
  });
});

describe('a server that writes ids as texts', () => {
  it('a server that writes ids as texts gets server/discover, and its answers are accepted', async () => {
    const server = new SilentServer('legacy');
    await rest();
    await server.says('0', {
      error: { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } },
    });
    assert.deepEqual(server.sent, ['initialize', 'server/discover']);
    await server.says('server/discover', { result: discovered });
    await server.call();
    await server.says(String(server.ids.at(-1)), { result: { content: [] } });
    assert.deepEqual(await server.calls[0], { kind: 'result', result: { content: [] } });
  });
});

describe('questions in a result of a modern server (X8c)', () => {
  it('a wrong field of a question costs only that field, as in a request of its own (X3)', async () => {
    const server = await modernServer();
    const asked: unknown[] = [];
    await server.call(
      undefined,
      fakeClient({
        capabilities: { elicitation: { form: {}, url: {} } },
        ask: (_method, params) => Promise.resolve({ asked: asked.push(params) }),
      }),
    );
    const ask = (params: object): object => ({
      method: 'elicitation/create',
      params: { message: 'Who?', ...params },
    });
    const inputRequests = {
      a: ask({ _meta: 5, requestedSchema: { type: 'object', properties: {}, required: null } }),
      b: ask({
        _meta: { progressToken: 0.5, more: 1 },
        mode: 'url',
        url: 'https://a/',
        elicitationId: null,
      }),
    };
    await server.says('tools/call', { result: { resultType: 'input_required', inputRequests } });
    assert.equal(server.sent.at(-1), 'tools/call');
    await server.says('tools/call', { result: { content: [] } });
    assert.equal((await server.calls[0])?.kind, 'result');
    const [form, page] = asked as [object, { elicitationId: string }];
    assert.deepEqual(form, {
      message: 'Who?',
      requestedSchema: { type: 'object', properties: {} },
    });
    const { elicitationId, ...rest } = page;
    assert.equal(typeof elicitationId, 'string');
    assert.deepEqual(rest, { _meta: { more: 1 }, message: 'Who?', mode: 'url', url: 'https://a/' });
  });
});

describe('calls that a server refuses for their headers (X8b)', () => {
  const refusal = { error: { code: -32020, message: 'Header mismatch' } };

  it('a call refused for its headers is sent once more, even if another call caused a listing since', async () => {
    const server = await modernServer();
    await server.call({ zone: 'z' });
    await server.call({ zone: 'z' });
    const [first = 0, second = 0] = server.ids.slice(-2);
    const zone = { type: 'string', 'x-mcp-header': 'Zone' };
    const tools = { result: { tools: [{ name: 'a', inputSchema: { properties: { zone } } }] } };
    await server.says(first, refusal);
    await server.says('tools/list', tools);
    await server.says(second, refusal);
    await server.says('tools/list', tools);
    assert.equal(server.sent.filter((method) => method === 'tools/call').length, 4);
    await server.says('tools/call', refusal);
    const settled: string[] = [];
    for (const call of server.calls) void call.then(({ kind }) => settled.push(kind));
    await rest();
    assert.deepEqual(settled, ['error'], 'not a second time');
  });

  async function refused(): Promise<SilentServer> {
    const server = await modernServer();
    await server.call();
    await server.says('tools/call', refusal);
    assert.equal(server.sent.at(-1), 'tools/list');
    return server;
  }

  it('a refused call fails if the listing takes too long, and the next refusal lists the tools again (X6)', async () => {
    const server = await refused();
    await server.clock.flow(20_000);
    assert.equal(server.sent.at(-1), 'notifications/cancelled');
    assert.equal((await server.calls[0])?.kind, 'error');
    await server.call();
    await server.says('tools/call', refusal);
    assert.equal(server.sent.at(-1), 'tools/list');
    await (await server.connection()).close();
  });

  it('a refused call does not wait for the listing after the connection has closed', async () => {
    const server = await refused();
    await (await server.connection()).close();
    await rest();
    assert.deepEqual([server.clock.pending, server.sent.at(-1)], [0, 'tools/list']);
    assert.equal((await server.calls[0])?.kind, 'lost');
  });
});

describe('a server that was modern, and is silent at first (X8a)', () => {
  const old = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    serverInfo: { name: 'old', version: '1' },
  };

  it('a silent server counts as modern if it discovers late, whatever it answers to initialize', async () => {
    for (const refusal of [
      { error: { code: -32022, message: 'no' } },
      { result: { resultType: 'complete' } },
    ]) {
      const server = new SilentServer();
      await rest();
      server.clock.advance(5_000);
      await rest();
      assert.deepEqual(server.sent, ['server/discover', 'initialize']);
      await server.says('initialize', refusal);
      await server.says('server/discover', { result: discovered });
      assert.equal((await server.connection()).protocolVersion, '2026-07-28');
      assert.deepEqual(server.seen, ['modern']);
    }
  });

  it('a silent server counts as legacy if it answers initialize', async () => {
    const server = new SilentServer();
    await rest();
    server.clock.advance(5_000);
    await rest();
    await server.says('initialize', { result: old });
    assert.equal((await server.connection()).serverInfo.name, 'old');
    assert.deepEqual(server.seen, ['legacy']);
  });

  it('a server that refuses server/discover gets initialize', async () => {
    const server = new SilentServer();
    await rest();
    await server.says('server/discover', { error: { code: -32601, message: 'Method not found' } });
    assert.deepEqual(server.sent, ['server/discover', 'initialize']);
    await server.says('initialize', { result: old });
    assert.equal((await server.connection()).serverInfo.name, 'old');
    assert.deepEqual(server.seen, ['legacy']);
  });
});

describe('a server that answers initialize, but speaks the modern era (X8)', () => {
  const named = {
    protocolVersion: '2026-07-28',
    capabilities: {},
    serverInfo: { name: 'new', version: '1' },
  };

  it('a server gets server/discover if its answer to initialize names 2026-07-28 without a session', async () => {
    for (const expected of ['legacy', 'modern'] as const) {
      const server = new SilentServer(expected);
      await rest();
      if (expected === 'modern') server.clock.advance(5_000);
      await rest();
      await server.says('initialize', { result: named });
      assert.deepEqual(server.sent.toSorted(), ['initialize', 'server/discover']);
      await server.says('server/discover', { result: discovered });
      assert.equal((await server.connection()).protocolVersion, '2026-07-28');
      assert.deepEqual(server.seen, ['modern']);
    }
  });

  it('an opening fails with the fault in the answer to initialize if server/discover fails', async () => {
    const server = new SilentServer('legacy');
    await rest();
    await server.says('initialize', { result: named });
    await server.says('server/discover', { error: { code: -32601, message: 'Method not found' } });
    const opening = await server.opening;
    assert.equal(opening.kind, 'wrongAnswer');
    assert.match((opening as { detail: string }).detail, /^names protocol version 2026-07-28/);
    assert.deepEqual(server.seen, []);
  });
});

describe('a server that refuses `initialize` (X8)', () => {
  const refusal = { error: { code: -32601, message: 'Method not found' } };

  async function refusing(): Promise<SilentServer> {
    const server = new SilentServer('legacy');
    await rest();
    await server.says('initialize', refusal);
    assert.deepEqual(server.sent, ['initialize', 'server/discover']);
    await server.clock.flow(30_000);
    return server;
  }

  it('a server that refused `initialize` has the whole time of its start for server/discover', async () => {
    const server = await refusing();
    await server.says('server/discover', { result: discovered });
    assert.equal((await server.connection()).protocolVersion, '2026-07-28');
  });

  it('a server that refused `initialize`, and was silent until the end of its start, fails with its refusal', async () => {
    const server = await refusing();
    server.timesOut();
    assert.deepEqual(await server.opening, { kind: 'refused', ...refusal.error });
  });
});

describe('a server that refuses the version of a request (X8)', () => {
  const refusal = (...supported: string[]): object => ({
    error: { code: -32022, message: 'Unsupported protocol version', data: { supported } },
  });

  it('server/discover is repeated once if the refusal lists its version', async () => {
    const server = new SilentServer();
    await rest();
    await server.says('server/discover', refusal('2026-07-28'));
    assert.deepEqual(server.sent, ['server/discover', 'server/discover']);
    await server.says('server/discover', { result: discovered });
    await server.connection();
    assert.deepEqual(server.seen, ['modern']);
  });

  it('a server gets initialize if it refuses its listed version again, or lists a legacy version', async () => {
    for (const supported of [['2026-07-28'], ['2031-01-01', '2025-06-18']]) {
      const server = new SilentServer();
      await rest();
      await server.says('server/discover', refusal(...supported));
      if (server.sent.length === 2 && server.sent[1] === 'server/discover') {
        await server.says('server/discover', refusal(...supported));
      }
      assert.equal(server.sent.at(-1), 'initialize');
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        serverInfo: { name: 'old', version: '1' },
      };
      await server.says('initialize', { result });
      await server.connection();
      assert.deepEqual(server.seen, ['legacy']);
    }
  });
});
