/** Messages to the client of a call, and waits for the end of elicitations. */
import assert from 'node:assert/strict';
import { Listings } from '../../../../src/core/gateway/conversations/listings.js';
import { CallClient, type Client } from '../../../../src/core/gateway/conversations/client.js';
import type { Session } from '../../../../src/core/gateway/conversations/session.js';
import { present } from '../../../../src/core/protocol/client.js';
import type { SpokenVersion } from '../../../../src/core/protocol/versions.js';
import { TransientMap } from '../../../../src/core/base/transientMap.js';
import { FakeClock } from '../../../support/fakes/fakeClock.js';
import { FakeBackend, FakeStream, listingOf, MemoryLog, noTraits, sessionOf } from '../fakes.js';

describe('gateway: clients of calls', () => {
  let listings: Listings | undefined;
  afterEach(() => listings?.dispose());

  const open = (): Session => {
    const [backend, clock, log] = [new FakeBackend(), new FakeClock(), new MemoryLog()];
    listings?.dispose();
    listings = new Listings({
      backend,
      clock,
      log,
      pageSize: 1_000,
      coalesceMs: 20,
      announce: () => {},
    });
    return sessionOf(listingOf(listings, 't'));
  };

  it('a slow client gets no log messages, and everything else on its listening stream (G2a)', () => {
    const session = open();
    const [listening, reply] = [new FakeStream(), new FakeStream()];
    session.listen(listening);
    listening.isRead = reply.isRead = false;
    const duringCall = new CallClient(session, undefined, () => reply);
    for (const client of [session.client, duringCall]) {
      client.tell('notifications/message', { level: 'info', data: 'x' });
      client.tell('notifications/resources/updated', { uri: 'a:b' });
    }
    assert.deepEqual(
      [listening, reply].map(({ sent }) => sent.map(({ method }) => method)),
      [['notifications/resources/updated'], []],
    );
    listening.isRead = reply.isRead = true;
    for (const client of [session.client, duringCall])
      client.tell('notifications/message', { level: 'info', data: 'x' });
    assert.deepEqual([listening.sent.length, reply.sent.length], [2, 1]);
  });

  it('a long notification is written in a later turn, and later ones follow it (P10)', async () => {
    const session = open();
    const reply = new FakeStream();
    const client = new CallClient(session, undefined, () => reply);
    const log = (data: unknown): void =>
      client.tell('notifications/message', { level: 'info', data });
    log('first');
    const long = Array.from({ length: 200_000 }, (_, n) => ({ n }));
    log(long);
    log('last');
    assert.equal(reply.sent.length, 1);
    await client.telling;
    assert.deepEqual(
      reply.sent.map(({ params }) => (params as { data: unknown }).data),
      ['first', long, 'last'],
    );
    assert.equal(client.telling, undefined);
    log('at once');
    assert.equal(reply.sent.length, 4);
  });

  it('a client gets only notifications of its version, and logs from its level up', () => {
    const told = (version: SpokenVersion, logLevel?: string): unknown[] => {
      const { listing } = open();
      const stream = new FakeStream();
      const client: Client = {
        traits: { ...noTraits, version },
        listing,
        conversation: undefined,
        calls: new TransientMap(),
        logLevel,
        state: present,
        listening: stream,
        serverMeta: undefined,
        idOf: () => undefined,
        hasRead: () => {},
        tellBeforeResult: () => {},
        ask: () => Promise.reject(new Error('nobody asks')),
      };
      const called = new CallClient(client, undefined);
      for (const level of ['info', 'error', 'odd']) called.tell('notifications/message', { level });
      called.tell('notifications/elicitation/complete', { elicitationId: 'a' });
      called.tell('notifications/tasks', { taskId: 'a', status: 'working' });
      return stream.sent.map(
        ({ method, params }) => (params as { level?: unknown }).level ?? method,
      );
    };
    const complete = 'notifications/elicitation/complete';
    assert.deepEqual(told('2025-06-18'), ['info', 'error', 'odd']);
    assert.deepEqual(told('2025-11-25', 'error'), ['error', 'odd', complete]);
    assert.deepEqual(
      told('2026-07-28'),
      ['notifications/tasks'],
      'a client of the modern era says what it wants',
    );
    assert.deepEqual(told('2026-07-28', 'info'), ['info', 'error', 'odd', 'notifications/tasks']);
  });

  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(8)]);
  const data = png.toString('base64');
  const image = (mimeType: string, more: object = {}) => ({
    type: 'image',
    mimeType,
    data,
    ...more,
  });
  const right = image('image/png');
  for (const version of ['2024-11-05', '2025-11-25', '2026-07-28'] as const)
    it(`the bytes of an image decide its type in a server's question to a model too: ${version} (V1c)`, async () => {
      const session = open();
      const asked: unknown[] = [];
      const client: Client = {
        traits: { ...noTraits, version },
        listing: session.listing,
        conversation: undefined,
        calls: new TransientMap(),
        logLevel: undefined,
        state: present,
        listening: undefined,
        serverMeta: undefined,
        idOf: () => undefined,
        hasRead: () => {},
        tellBeforeResult: () => {},
        ask: (_stream, _method, params) => {
          asked.push(params);
          return Promise.resolve({});
        },
      };
      const called = new CallClient(client, undefined);
      const { signal } = new AbortController();
      const sample = async (content: unknown): Promise<unknown> => {
        const params = { messages: [{ role: 'user', content }], maxTokens: 1 };
        await called.ask('sampling/createMessage', params, signal);
        return (asked.at(-1) as typeof params).messages[0]?.content;
      };
      assert.deepEqual(await sample(image('image/jpeg')), right);
      assert.deepEqual(await sample(image('image/jpeg', { data: `data:;base64,${data}` })), right);
      assert.deepEqual(await sample(right), right);
      const empty = (await sample(image('image/png', { data: '' }))) as { text: string };
      assert.match(empty.text, /^\[Image: image\/png\. It cannot be read: it has no data\]$/);
      const several = await sample([image('image/gif'), { type: 'text', text: 'x' }]);
      assert.deepEqual([several].flat()[0], right);
    });

  describe('elicitations reported as complete (G4)', () => {
    const complete = (session: Session, elicitationId: unknown): void =>
      session.client.tell('notifications/elicitation/complete', { elicitationId });
    /** Returns true for each finished wait. */
    async function areOver(...waits: readonly Promise<void>[]): Promise<boolean[]> {
      const over = waits.map(() => false);
      waits.forEach((wait, index) => void wait.then(() => (over[index] = true)));
      await new Promise(setImmediate);
      return over;
    }

    it('a wait for elicitations ends when each is complete', async () => {
      const session = open();
      const both = session.client.completed(['a', 'b', 'a']);
      for (const other of [undefined, 5, {}, 'x'.repeat(1_000_000), 'a']) complete(session, other);
      assert.deepEqual(await areOver(both), [false]);
      complete(session, 'b');
      complete(session, 'c');
      const { client } = session;
      assert.deepEqual(await areOver(both, client.completed(['c'])), [true, false]);
    });
  });
});
