import { LoopShare } from '../../../../src/core/base/turns.js';
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { LegacySseChannel } from '../../../../src/core/connections/http/legacySse.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';
import { events, FakeEndpoint, silence, status } from '../../../support/fakes/fakeEndpoint.js';

describe('a channel of HTTP+SSE', () => {
  for (const isDelivered of [false, true]) {
    it(`a cancelled call ends its exchange, and ${isDelivered ? 'notifies a server that may have the call' : 'sends nothing if the call was not sent'} (X6)`, async () => {
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
        share: new LoopShare(new FakeClock()),
        log: { write: () => {} },
        deliver: () => {},
        die: () => {},
      });
      assert.equal(await channel.open(), undefined);
      await channel.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} });
      await rest();
      await channel.send({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: 7 },
      });
      assert.equal(server.seen.includes('notifications/cancelled'), isDelivered);
      assert.deepEqual([endedBefore, call?.aborted], [isDelivered ? false : undefined, true]);
      await channel.close();
    });
  }

  it('an endpoint on another origin is not used, and the failure says so without its query (X3a)', async () => {
    const server = new FakeEndpoint(
      () => status(202),
      () =>
        events('event: endpoint\ndata: http://internal.example:8000/messages?sessionId=secret\n\n'),
    );
    const clock = new FakeClock();
    const channel = new LegacySseChannel({
      endpoint: server.endpoint,
      clock,
      share: new LoopShare(clock),
      log: { write: () => {} },
      deliver: () => {},
      die: () => {},
    });
    const failure = await channel.open();
    const detail = 'its endpoint event names another origin: http://internal.example:8000/messages';
    const remedy = { kind: 'otherEndpoint' };
    assert.deepEqual(failure?.reason, { kind: 'redirect', detail, url: server.url.href, remedy });
    await channel.close();
  });

  /** A channel whose stream is `body`. */
  async function streaming(clock: FakeClock, share: LoopShare, deliver: () => void) {
    const body = new PassThrough();
    body.write('event: endpoint\ndata: /post\n\n');
    const server = new FakeEndpoint(
      () => status(202),
      () => ({ ...events(''), body }),
    );
    const channel = new LegacySseChannel({
      endpoint: server.endpoint,
      clock,
      share,
      log: { write: () => {} },
      deliver,
      die: () => {},
    });
    assert.equal(await channel.open(), undefined);
    return { body, channel };
  }

  it('answers over HTTP+SSE do not slow the stream, even if the server writes their ids as texts (S2c)', async () => {
    const ids = Array.from({ length: 2500 }, (_, id) => id);
    let heard = 0;
    const clock = new FakeClock();
    const { body, channel } = await streaming(clock, new LoopShare(clock), () => (heard += 1));
    const { pending } = clock;
    for (const id of ids)
      await channel.send({ jsonrpc: '2.0', id, method: 'tools/call', params: {} });
    await rest();
    for (const id of ids)
      body.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: String(id), result: {} })}\n\n`);
    while (heard < ids.length && clock.pending === pending) await rest();
    assert.deepEqual([heard, clock.pending], [ids.length, pending]);
    await channel.close();
  });

  it('questions of the server in one chunk are heard one after the other, within its share (S2e)', async () => {
    let heard = 0;
    let longest = 0;
    const clock = new FakeClock();
    const share = new LoopShare(clock, clock);
    const { body, channel } = await streaming(clock, share, () => {
      heard += 1;
      longest = Math.max(longest, share.waitMs);
    });
    const ping = (_: unknown, id: number): string =>
      `data: {"jsonrpc":"2.0","id":${id},"method":"ping"}\n\n`;
    body.write(Array.from({ length: 1000 }, ping).join(''));
    await rest();
    assert.ok(heard > 0 && heard < 1000, `${heard} heard at once`);
    while (heard < 1000) await clock.flow(20);
    assert.ok(longest <= 20, `other work for the server would wait for ${longest} ms`);
    await channel.close();
  });
});
