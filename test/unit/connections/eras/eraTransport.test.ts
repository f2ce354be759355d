/** Rule X8: which era a server speaks, where it is slow to say so. */
import assert from 'node:assert/strict';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { EraTransport } from '../../../../src/core/connections/eras/eraTransport.js';
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

/** A server that was modern at its last start, and says nothing by itself. */
function silentServer(): {
  readonly opened: Promise<void>;
  readonly sent: string[];
  readonly received: JSONRPCMessage[];
  readonly seen: Era[];
  readonly clock: FakeClock;
  says(message: object): Promise<void>;
} {
  const sent: string[] = [];
  const received: JSONRPCMessage[] = [];
  const seen: Era[] = [];
  const clock = new FakeClock();
  const transport: ServerTransport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send: (message) => {
      if ('method' in message) sent.push(message.method);
      return Promise.resolve();
    },
  };
  const era = { expected: 'modern', onSeen: (spoken: Era) => seen.push(spoken) } as const;
  const eras = new EraTransport({ transport, era, clock, log: silentLog });
  eras.onmessage = (message: JSONRPCMessage) => received.push(message);
  const opened = eras.send(initialize);
  const says = async (message: object): Promise<void> => {
    transport.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
    await rest();
  };
  return { opened, sent, received, seen, clock, says };
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
