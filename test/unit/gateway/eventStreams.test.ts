import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { Heartbeat, ListenStream, PostReply } from '../../../src/core/gateway/eventStreams.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

/**
 * The part of `ServerResponse` used by streams. On request, it holds everything back like a slow
 * client.
 */
class FakeResponse extends Writable {
  status: number | undefined;
  headers: Record<string, unknown> = {};
  written = '';
  writes = 0;
  isStuck = false;
  req: { headers: { accept: string | undefined } } = {
    headers: { accept: 'text/event-stream, application/json' },
  };

  writeHead(status: number, headers: Record<string, unknown>): this {
    this.status = status;
    this.headers = headers;
    return this;
  }

  flushHeaders(): void {
    this.writes += 1;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes += 1;
    this.written += chunk.toString();
    if (!this.isStuck) done();
  }

  get asResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }
}

describe('gateway: event streams', () => {
  let clock: FakeClock;
  let heartbeat: Heartbeat;
  let response: FakeResponse;

  beforeEach(() => {
    clock = new FakeClock();
    heartbeat = new Heartbeat(clock, 15_000);
    response = new FakeResponse();
  });

  afterEach(() => {
    heartbeat.dispose();
    assert.equal(clock.pending, 0);
  });

  function reply(requests = 1, isBatch = requests > 1): PostReply {
    return new PostReply(response.asResponse, heartbeat, requests, isBatch);
  }

  it('a single quick answer is JSON', () => {
    reply().settle('{"id":"é"}');
    assert.deepEqual([response.writes, response.written], [1, '{"id":"é"}']);
    assert.deepEqual(response.headers, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(response.written),
    });
  });

  it('an answer is an event if its request came in a batch, or its client reads no JSON', () => {
    for (const [accept, isBatch] of [
      ['application/json, text/event-stream', true],
      ['text/event-stream', false],
      [undefined, false],
    ] as const) {
      response = new FakeResponse();
      response.req.headers = { accept };
      reply(1, isBatch).settle('{"id":1}');
      assert.equal(response.headers['content-type'], 'text/event-stream');
      assert.equal(response.written, 'event: message\ndata: {"id":1}\n\n');
    }
  });

  it('the messages of a batch are events in their order', () => {
    const post = reply(2);
    post.settle('{"id":1}');
    post.send('{"method":"n"}');
    post.settle('{"id":"é"}');
    assert.equal(
      response.written,
      'event: message\ndata: {"id":1}\n\nevent: message\ndata: {"method":"n"}\n\nevent: message\ndata: {"id":"é"}\n\n',
    );
    assert.deepEqual(response.headers, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
    });
    assert.equal(response.writableEnded, true);
  });

  it('only a single first answer may have another HTTP status', () => {
    const post = reply();
    post.settle('{"id":1}', 400);
    assert.deepEqual(
      [response.status, response.headers['content-type']],
      [400, 'application/json'],
    );
    assert.equal(response.written, '{"id":1}');
    for (const begin of [
      (late: PostReply) => late.send('{"method":"n"}'),
      () => clock.advance(2_000),
    ]) {
      response = new FakeResponse();
      const late = reply();
      begin(late);
      late.settle('{"id":1}', 400);
      assert.deepEqual(
        [response.status, response.headers['content-type']],
        [200, 'text/event-stream'],
      );
      assert.match(response.written, /data: \{"id":1\}\n\n$/);
    }
  });

  it('a later answer is one write too, with its length', () => {
    const post = reply();
    clock.advance(999);
    post.settle('{"id":1}');
    assert.deepEqual(
      [response.writes, response.headers['content-length']],
      [1, response.written.length],
    );
    clock.advance(15_000);
    assert.equal(response.writes, 1);
  });

  it('after a second the head goes out, and then each message at once', () => {
    const post = reply(2);
    assert.equal(response.writes, 0);
    clock.advance(2_000);
    assert.deepEqual(
      [response.status, response.writes, response.headers['content-length']],
      [200, 1, undefined],
    );
    post.settle('{"id":1}');
    assert.equal(response.writableEnded, false);
    post.settle(undefined);
    assert.equal(response.writableEnded, true);
    assert.equal(response.written, 'event: message\ndata: {"id":1}\n\n');
  });

  it('the head goes out with the first message', () => {
    const post = reply();
    post.send('{"method":"n"}');
    assert.deepEqual(
      [response.status, response.written],
      [200, 'event: message\ndata: {"method":"n"}\n\n'],
    );
    clock.advance(2_000);
    assert.equal(response.writes, 1);
    post.settle(undefined);
  });

  it('writing to a closed client does nothing', () => {
    const post = reply();
    const listening = new ListenStream(response.asResponse, heartbeat);
    response.destroy();
    post.send('{}');
    post.settle('{}');
    listening.send('{}');
    clock.advance(15_000);
    assert.equal(response.written, '');
  });

  it('a client that does not read gets no progress, but its answer', () => {
    response.isStuck = true;
    const post = reply();
    const progress = JSON.stringify('x'.repeat(100_000));
    for (let n = 0; n < 100; n++) post.sendIfReading(progress);
    assert.ok(response.writableLength < 1_200_000);
    post.settle('{"id":1}');
    assert.equal(response.writableEnded, true);
  });

  it('a listening client that does not read loses log messages, and then its stream (G2a)', () => {
    response.isStuck = true;
    const listening = new ListenStream(response.asResponse, heartbeat);
    const message = JSON.stringify('x'.repeat(100_000));
    for (let n = 0; n < 100; n++) listening.sendIfReading(message);
    assert.ok(response.writableLength < 1_200_000);
    assert.equal(response.destroyed, false);
    for (let n = 0; n < 20; n++) listening.send(message);
    assert.equal(response.destroyed, false);
    for (let n = 0; n < 20; n++) listening.send(message);
    assert.equal(response.destroyed, true);
  });

  it('one long message does not end a stream', () => {
    const listening = new ListenStream(response.asResponse, heartbeat);
    for (let n = 0; n < 3; n++) listening.send(JSON.stringify('x'.repeat(10_000_000)));
    assert.equal(response.destroyed, false);
    assert.ok(response.written.length > 30_000_000);
  });

  it('an open stream gets a comment at least every 15 s, and an ended one gets none', () => {
    const post = reply();
    clock.advance(2_000);
    clock.advance(10_000);
    const other = new FakeResponse();
    new ListenStream(other.asResponse, heartbeat);
    clock.advance(5_000);
    clock.advance(15_000);
    assert.equal(response.written, ': keep-alive\n\n'.repeat(2));
    assert.equal(other.written, ': keep-alive\n\n'.repeat(2));
    post.settle(undefined);
    clock.advance(15_000);
    assert.equal(response.written, ': keep-alive\n\n'.repeat(2));
    assert.equal(other.written, ': keep-alive\n\n'.repeat(3));
  });

  it('no timer runs without an open stream', async () => {
    new ListenStream(response.asResponse, heartbeat).end();
    await new Promise((resolve) => response.once('close', resolve));
    clock.advance(15_000);
    assert.equal(clock.pending, 0);
  });
});
