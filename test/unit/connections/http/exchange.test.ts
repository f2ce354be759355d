import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import {
  discard,
  isWithinOrigin,
  readShort,
  redirectRemedy,
  shown,
} from '../../../../src/core/connections/http/exchange.js';
import { FakeClock } from '../../../support/fakes/fakeClock.js';

describe('origins', () => {
  const within = (a: string, b: string): boolean => isWithinOrigin(new URL(a), new URL(b));

  it('an origin is scheme, host and port, or their encrypted form', () => {
    assert(within('http://a/x', 'http://a/y?z'));
    assert(within('http://a/x', 'https://a/y'));
    assert(!within('https://a/x', 'http://a/y'));
    assert(!within('http://a:8080/x', 'https://a/y'));
    assert(!within('http://a/x', 'https://a:8443/y'));
    assert(!within('http://a/x', 'http://b/y'));
    assert(!within('http://a/x', 'http://sub.a/y'));
  });

  it('addresses are shown without secrets', () => {
    assert.equal(shown(new URL('https://user:pass@a:1/path?key=1#x')), 'https://a:1/path');
  });
});

describe('the remedy for a refused redirect (X3a)', () => {
  const write = (url: string) => ({ kind: 'write', url }) as const;
  for (const [from, to, remedy] of [
    ['http://h:81/mcp', 'https://h:81/mcp/', write('https://h:81/mcp/')],
    ['http://h/mcp', 'https://h/mcp', write('https://h/mcp')],
    ['http://h/mcp', 'http://h/mcp/', write('http://h/mcp/')],
    ['http://h:81/mcp', 'http://h:8080/mcp/', write('http://h:81/mcp/')],
    ['https://h/mcp', 'http://h/mcp/', write('https://h/mcp/')],
    ['https://h/mcp', 'http://127.0.0.1:8080/mcp/', write('https://h/mcp/')],
    ['http://h/mcp', 'http://other.example/mcp/', undefined],
    ['https://h/mcp', 'https://other.example/mcp/', undefined],
    ['https://h/mcp', 'http://other.example/mcp/', { kind: 'unsafe' }],
    ['http://h/mcp', 'http://h/login', { kind: 'signInPage' }],
    ['http://h/mcp', 'http://h/mcp', { kind: 'circle' }],
  ] as const) {
    it(`a redirect from ${from} to ${to} has a remedy that can work and is no less safe`, () => {
      assert.deepEqual(redirectRemedy(new URL(from), new URL(to)), remedy);
    });
  }
});

describe('the rest of a body', () => {
  const kib = Buffer.alloc(1024);

  it('the rest of a body is read to its end', async () => {
    const body = new PassThrough();
    discard(body);
    body.write(kib);
    body.end();
    await once(body, 'end');
  });

  it('the rest of a body is not read if it is endless (S2)', async () => {
    const body = new PassThrough();
    discard(body);
    const closed = once(body, 'close');
    for (let n = 0; n < 65; n++) body.write(kib);
    await closed;
    assert.equal(body.readableEnded, false);
  });

  it('a stuck body is not awaited, and its socket is closed (X6)', async () => {
    const clock = new FakeClock();
    const body = new PassThrough();
    discard(body, clock);
    const closed = once(body, 'close');
    body.write(kib);
    await clock.flow(10_000);
    await closed;
    assert.equal(clock.pending, 0);
  });

  it('an error message has the received part of a stuck body', async () => {
    const clock = new FakeClock();
    const body = new PassThrough();
    const text = readShort(
      { status: 500, headers: {}, contentType: '', url: new URL('http://a'), body },
      clock,
    );
    body.write('It is down');
    await clock.flow(10_000);
    assert.equal(await text, 'It is down');
    assert.equal(clock.pending, 0);
  });

  it('a finished body leaves no timer', async () => {
    const clock = new FakeClock();
    const body = new PassThrough();
    const closed = once(discard(body, clock), 'close');
    body.end();
    await closed;
    assert.equal(clock.pending, 0);
  });
});
