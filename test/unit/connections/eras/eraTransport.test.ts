/** Rule X8: which era a server speaks, where it is slow to say so. */
import assert from 'node:assert/strict';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { EraTransport } from '../../../../src/core/connections/eras/eraTransport.js';
import { TransportFailure } from '../../../../src/core/failures/transportFailure.js';
import type { ServerTransport } from '../../../../src/core/connections/transport.js';
import type { Era } from '../../../../src/core/protocol/versions.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';
import { silentLog } from '../../../support/fakes/silentLog.js';

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
} as const;
const discovered = { supportedVersions: ['2026-07-28'], capabilities: {} };

describe('a server over HTTP that was modern until now (X8)', () => {
  const refused = (status: number): object => {
    const reason = { kind: 'status', status, body: '', contentType: '', url: 'http://there/' } as const;
    return { id: 1, error: { code: -32000, message: 'refused', data: new TransportFailure(reason) } };
  };
  const otherVersion = { id: 1, error: { code: -32022, message: 'no', data: { supported: ['2025-11-25'] } } };

  async function afterThe(
    answer: object,
    discovery: object,
  ): Promise<{ sent: string[]; seen: Era[]; failed: string[] }> {
    const { sent, seen, failed, says, eras } = silentServer();
    await rest();
    await says({ id: 'discover', result: discovered });
    await eras.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } });
    await says(answer);
    await says({ id: 'discover', ...discovery });
    return { sent: sent.slice(1), seen, failed };
  }

  it('is asked again when it refuses a request like an old one, and given up if it is one', async () => {
    const old = { error: { code: -32601, message: 'Method not found' } };
    for (const answer of [refused(400), refused(404), refused(405), otherVersion]) {
      const { sent, seen, failed } = await afterThe(answer, old);
      assert.deepEqual(sent, ['tools/call', 'server/discover']);
      assert.deepEqual(seen, ['modern', 'legacy']);
      assert.deepEqual(failed, ['The server no longer speaks protocol version 2026-07-28.']);
    }
  });

  it('stays what it is where it still discovers, cannot be reached or fails otherwise', async () => {
    const stays = { seen: ['modern'], failed: [] };
    const still = await afterThe(refused(404), { result: discovered });
    assert.deepEqual({ seen: still.seen, failed: still.failed }, stays);
    const away = await afterThe(refused(400), { error: (refused(503) as { error: object }).error });
    assert.deepEqual({ seen: away.seen, failed: away.failed }, stays);
    for (const answer of [refused(500), { id: 1, error: { code: -32602, message: 'no such tool' } }]) {
      const { sent, failed } = await afterThe(answer, { result: discovered });
      assert.deepEqual([sent, failed], [['tools/call'], []]);
    }
  });
});

describe('a server that answers with the number as a text (X8)', () => {
  it('is asked to discover, and its answer to a call is one', async () => {
    const { sent, received, says, eras } = silentServer('legacy');
    await rest();
    await says({ id: '0', error: { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } } });
    assert.deepEqual(sent, ['initialize', 'server/discover']);
    await says({ id: 'discover', result: discovered });
    await eras.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } });
    await says({ id: '1', result: { content: [] } });
    assert.deepEqual(received.at(-1), { jsonrpc: '2.0', id: 1, result: { content: [] } });
  });
});

describe('calls that are refused for their headers (X8)', () => {
  it('go out once more, also where another has had the tools listed since', async () => {
    const { sent, ids, received, says, eras } = silentServer();
    await rest();
    await says({ id: 'discover', result: discovered });
    sent.length = 0;
    const refusal = { error: { code: -32020, message: 'Header mismatch' } };
    for (const id of [1, 2])
      await eras.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'a', arguments: { zone: 'z' } } });
    await says({ id: 1, ...refusal });
    const zone = { type: 'string', 'x-mcp-header': 'Zone' };
    await says({ id: ids.at(-1), result: { tools: [{ name: 'a', inputSchema: { properties: { zone } } }] } });
    await says({ id: 2, ...refusal });
    await says({ id: ids.at(-1), result: { tools: [{ name: 'a', inputSchema: { properties: { zone } } }] } });
    assert.deepEqual(
      sent.filter((method) => method === 'tools/call'),
      Array(4).fill('tools/call'),
    );
    await says({ id: ids.at(-1), ...refusal });
    assert.equal(received.filter((message) => 'error' in message).length, 1, 'not a second time');
  });
});

describe('a server that refuses the headers of a call and does not list its tools then (X6, X8)', () => {
  const refusal = { error: { code: -32020, message: 'Header mismatch' } };

  async function refused(): Promise<ReturnType<typeof silentServer>> {
    const server = silentServer();
    await rest();
    await server.says({ id: 'discover', result: discovered });
    await server.eras.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } });
    await server.says({ id: 1, ...refusal });
    assert.equal(server.sent.at(-1), 'tools/list');
    return server;
  }

  it('is waited for no longer than a while, and asked anew for the next call', async () => {
    const { sent, received, clock, says, eras } = await refused();
    await clock.flow(20_000);
    assert.equal(sent.at(-1), 'notifications/cancelled');
    assert.deepEqual(
      received.filter((message) => 'error' in message).map(({ id }) => id),
      [1],
    );
    await eras.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'a' } });
    await says({ id: 2, ...refusal });
    assert.equal(sent.at(-1), 'tools/list');
    await eras.close();
  });

  it('is not waited for after the end', async () => {
    const { sent, clock, eras } = await refused();
    await eras.close();
    await rest();
    assert.deepEqual([clock.pending, sent.at(-1)], [0, 'tools/list']);
  });
});

/** A server that says nothing by itself. */
function silentServer(expected: Era = 'modern'): {
  readonly opened: Promise<void>;
  readonly sent: string[];
  readonly ids: (string | number)[];
  readonly received: JSONRPCMessage[];
  readonly seen: Era[];
  readonly clock: FakeClock;
  /** Why the transport was given up. */
  readonly failed: string[];
  readonly eras: EraTransport;
  says(message: object): Promise<void>;
} {
  const sent: string[] = [];
  const ids: (string | number)[] = [];
  const received: JSONRPCMessage[] = [];
  const seen: Era[] = [];
  const failed: string[] = [];
  const clock = new FakeClock();
  const transport: ServerTransport = {
    hasHeaders: true,
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    fail: (cause) => failed.push(cause),
    send: (message) => {
      if ('method' in message) sent.push(message.method);
      if ('id' in message && message.id !== undefined) ids.push(message.id);
      return Promise.resolve();
    },
  };
  const era = { expected, onSeen: (spoken: Era) => seen.push(spoken) } as const;
  const eras = new EraTransport({ transport, era, clock, log: silentLog });
  eras.onmessage = (message: JSONRPCMessage) => received.push(message);
  const opened = eras.send(initialize);
  const says = async (message: object): Promise<void> => {
    transport.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
    await rest();
  };
  return { opened, sent, ids, received, seen, clock, failed, eras, says };
}

describe('a server that was modern, and is silent at first (X8)', () => {
  it('is modern still when it discovers late, whatever it makes of initialize', async () => {
    for (const refusal of [{ error: { code: -32022, message: 'no' } }, { result: { resultType: 'complete' } }]) {
      const { opened, sent, received, seen, clock, says } = silentServer();
      await rest();
      clock.advance(5_000);
      await rest();
      assert.deepEqual(sent, ['server/discover', 'initialize']);
      await says({ id: 0, ...refusal });
      assert.deepEqual(received, []);
      await says({ id: 'discover', result: discovered });
      await opened;
      assert.deepEqual(seen, ['modern']);
      assert.deepEqual(
        received.map((message) => [(message as { id?: unknown }).id, 'result' in message]),
        [[0, true]],
      );
    }
  });

  it('gets its answer to initialize when it has become a legacy server', async () => {
    const { opened, received, seen, clock, says } = silentServer();
    await rest();
    clock.advance(5_000);
    await rest();
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'old', version: '1' } };
    await says({ id: 0, result });
    await opened;
    assert.deepEqual(seen, ['legacy']);
    assert.deepEqual(received, [{ jsonrpc: '2.0', id: 0, result }]);
  });

  it('that refuses to discover in time is sent initialize', async () => {
    const { opened, sent, received, seen, says } = silentServer();
    await rest();
    await says({ id: 'discover', error: { code: -32601, message: 'Method not found' } });
    assert.deepEqual(sent, ['server/discover', 'initialize']);
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'old', version: '1' } };
    await says({ id: 0, result });
    await opened;
    assert.deepEqual(seen, ['legacy']);
    assert.equal(received.length, 1);
  });
});

describe('a server that answers initialize, but speaks the modern era (X8)', () => {
  const named = { protocolVersion: '2026-07-28', capabilities: {}, serverInfo: { name: 'new', version: '1' } };

  it('in the name of 2026-07-28 is asked to discover, and has opened no session', async () => {
    for (const expected of ['legacy', 'modern'] as const) {
      const { opened, sent, received, seen, clock, says } = silentServer(expected);
      await rest();
      if (expected === 'modern') clock.advance(5_000);
      await rest();
      await says({ id: 0, result: named });
      assert.deepEqual([sent.toSorted(), received], [['initialize', 'server/discover'], []]);
      await says({ id: 'discover', result: discovered });
      await opened;
      assert.deepEqual([seen, received.length], [['modern'], 1]);
    }
  });

  it('in that name, and cannot discover, has its answer passed on', async () => {
    const { opened, received, seen, says } = silentServer('legacy');
    await rest();
    await says({ id: 0, result: named });
    await says({ id: 'discover', error: { code: -32601, message: 'Method not found' } });
    await opened;
    assert.deepEqual([seen, received], [[], [{ jsonrpc: '2.0', id: 0, result: named }]]);
  });
});

describe('a server that refuses the version that it is asked in (X8)', () => {
  const refusal = (...supported: string[]): object => ({
    id: 'discover',
    error: { code: -32022, message: 'Unsupported protocol version', data: { supported } },
  });

  it('is asked once more where it says that it speaks it', async () => {
    const { opened, sent, received, seen, says } = silentServer();
    await rest();
    await says(refusal('2026-07-28'));
    assert.deepEqual(sent, ['server/discover', 'server/discover']);
    await says({ id: 'discover', result: discovered });
    await opened;
    assert.deepEqual([seen, received.length], [['modern'], 1]);
  });

  it('is sent initialize where it says so again, or names a version of the older era', async () => {
    for (const supported of [['2026-07-28'], ['2031-01-01', '2025-06-18']]) {
      const { opened, sent, seen, says } = silentServer();
      await rest();
      await says(refusal(...supported));
      if (sent.length === 2 && sent[1] === 'server/discover') await says(refusal(...supported));
      assert.equal(sent.at(-1), 'initialize');
      const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'old', version: '1' } };
      await says({ id: 0, result });
      await opened;
      assert.deepEqual(seen, ['legacy']);
    }
  });
});
