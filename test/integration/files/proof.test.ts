/**
 * The listener of a port has to prove that it knows the token (G6), because any program can listen
 * there.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { knowsToken, proofOf, proofPath } from '../../../src/core/files/proof.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { collect } from '../../support/heap.js';
import { within } from '../../support/core/within.js';

const token = 't'.repeat(43);

describe('a proof of who listens', () => {
  const servers: ReturnType<typeof createServer>[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function listen(
    answer: (response: ServerResponse, challenge: string, port: number) => void,
  ): Promise<number> {
    const server = createServer(({ url = '' }, response) =>
      answer(response, proofPath.exec(url)?.[1] ?? '', (server.address() as AddressInfo).port),
    );
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  }

  it('is given by who knows the secret, for the own port alone', async () => {
    const answering = (offset: number) =>
      listen((response, challenge, port) =>
        response.end(JSON.stringify({ proof: proofOf(token, port + offset, challenge) })),
      );
    const clock = new FakeClock();
    assert.equal(await knowsToken(await answering(0), token, clock), true);
    assert.equal(await knowsToken(await answering(1), token, clock), false);
    assert.equal(clock.pending, 0);
  });

  for (const [what, body] of [
    ['nothing', ''],
    ['no JSON', '<html>'],
    ['no object', 'null'],
    ['no proof', '{"proof":{}}'],
  ] as const) {
    it(`is not given by ${what}`, async () => {
      assert.equal(
        await knowsToken(await listen((response) => response.end(body)), token, new FakeClock()),
        false,
      );
    });
  }

  it('is not given by who cannot be reached, or leads elsewhere', async () => {
    const port = await listen((response) =>
      response.writeHead(302, { location: '/elsewhere' }).end(),
    );
    assert.equal(await knowsToken(port, token, new FakeClock()), false);
    for (const server of servers) server.closeAllConnections();
    await Promise.all(servers.splice(0).map((server) => once(server.close(), 'close')));
    assert.equal(await knowsToken(port, token, new FakeClock()), false);
  });

  it('is not read further than a proof is long (S2)', async () => {
    let closed: Promise<unknown> | undefined;
    const port = await listen((response) => {
      closed = once(response, 'close');
      const pour = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        response.once('drain', pour);
      };
      pour();
    });
    assert.equal(
      await within(knowsToken(port, token, new FakeClock()), 'the end of the reading'),
      false,
    );
    await within(Promise.resolve(closed), 'the end of the connection');
  });

  for (const [how, begin] of [
    ['says nothing', () => {}],
    [
      'begins an answer and says nothing more',
      (response: ServerResponse) => void response.write('{'),
    ],
  ] as const) {
    it(`is waited for 5 s from who ${how}, whatever is collected meanwhile`, async () => {
      const clock = new FakeClock();
      let asked: () => void = () => {};
      const reached = new Promise<void>((resolve) => (asked = resolve));
      const port = await listen((response) => {
        begin(response);
        asked();
      });
      const proof = knowsToken(port, token, clock);
      await reached;
      // The bytes so far are read.
      for (let turns = 0; turns < 20; turns++) await nextTurn();
      collect();
      clock.advance(5_000);
      assert.equal(await within(proof, 'the limit'), false);
    });
  }
});
