import assert from 'node:assert/strict';
import { LegacySseChannel } from '../../../../src/core/connections/http/legacySse.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';
import { events, FakeEndpoint, silence, status } from '../../../support/fakes/fakeEndpoint.js';

describe('a channel of HTTP+SSE', () => {
  for (const isDelivered of [false, true]) {
    it(`ends the exchange of a cancelled call, and tells of it ${isDelivered ? 'where the server may have it' : 'only if it was sent'} (X6)`, async () => {
      let call: AbortSignal | undefined;
      let endedBefore: boolean | undefined;
      const server = new FakeEndpoint(
        ({ method }, signal, delivery) => {
          if (method === 'notifications/cancelled') {
            endedBefore = call?.aborted;
            return status(202);
          }
          call = signal;
          delivery(isDelivered);
          return silence();
        },
        () => events('event: endpoint\ndata: /post\n\n'),
      );
      const channel = new LegacySseChannel({
        endpoint: server.endpoint,
        clock: new FakeClock(),
        log: { write: () => {} },
        deliver: () => {},
        die: () => {},
      });
      assert.equal(await channel.open(), undefined);
      await channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
      await rest();
      await channel.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
      assert.equal(server.seen.includes('notifications/cancelled'), isDelivered);
      assert.deepEqual([endedBefore, call?.aborted], [isDelivered ? false : undefined, true]);
      await channel.close();
    });
  }
});
