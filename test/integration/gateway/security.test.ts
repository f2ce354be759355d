import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createGateway, type Gateway } from '../../../src/core/gateway/http/gateway.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { FakeBackend, MemoryLog } from '../../unit/gateway/fakes.js';
import type { Answer, RawClient } from './rawClient.js';
import { startRig, type Rig } from './rig.js';

describe('gateway: safety (G2)', () => {
  let rig: Rig;
  let editor: RawClient;
  let plain: RawClient;
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25' },
  };

  beforeEach(async () => {
    rig = await startRig({ maxBodyBytes: 10_000, maxSessions: 3 });
    rig.backend.set('play', ['click']);
    rig.backend.set('other', ['click']);
    editor = rig.client('play', 'editor');
    plain = rig.client('play', 'agent');
  });

  afterEach(() => rig.dispose());

  function assertSilent(answer: Answer, status: number): void {
    assert.deepEqual([answer.status, answer.body], [status, '']);
    assert.equal(answer.headers['www-authenticate'], undefined);
    assert.equal(answer.headers['mcp-session-id'], undefined);
  }

  function assertAdvised(answer: Answer, advice: RegExp): void {
    assert.equal(answer.status, 403);
    assert.match(answer.body, advice);
    assert.ok(!answer.body.includes('evil.example'), 'the answer quotes the request');
    for (const header of ['www-authenticate', 'mcp-session-id', 'access-control-allow-origin'])
      assert.equal(answer.headers[header], undefined);
  }

  it('each gateway has another token of 256 bits', async () => {
    const other = createGateway(
      { backend: rig.backend, clock: rig.clock, log: rig.log },
      { version: '1' },
    );
    const { Authorization } = rig.gateway.endpoint('play', 'editor').headers;
    assert.match(Authorization ?? '', /^Bearer [A-Za-z0-9_-]{43}$/);
    try {
      await other.start();
      assert.notEqual(other.endpoint('play', 'editor').headers['Authorization'], Authorization);
    } finally {
      await other.dispose();
    }
  });

  it('the gateway listens only on the loopback interface', () => {
    const { url } = rig.gateway.endpoint('play', 'editor');
    assert.equal(url, `http://127.0.0.1:${rig.gateway.port}/editor/play`);
  });

  for (const [name, authorization] of [
    ['no token', undefined],
    ['a wrong token', `Bearer ${'A'.repeat(43)}`],
    ['an empty token', 'Bearer '],
    ['another scheme', 'Basic QTpC'],
  ] as const) {
    it(`a request with ${name} gets a bare 404, on any path and with any method`, async () => {
      for (const client of [editor, plain, rig.client('nobody'), rig.client('nobody', 'agent')]) {
        for (const method of ['POST', 'GET', 'DELETE', 'PUT', 'OPTIONS']) {
          const body = method === 'POST' ? JSON.stringify(initialize) : undefined;
          const answer = await client.send(method, body, { Authorization: authorization });
          assertSilent(answer, 404);
          assert.equal(answer.headers.connection, 'close');
        }
      }
      assert.equal(rig.gateway.activityOf('play').sessions, 0);
    });
  }

  it('a foreign Host is refused: 404 to the editor, 403 with advice to others', async () => {
    for (const host of [
      'evil.example',
      `evil.example:${rig.gateway.port}`,
      '127.0.0.1',
      'localhost:1',
    ]) {
      assertSilent(await editor.post(initialize, { host }), 404);
      assertAdvised(await plain.post(initialize, { host }), /Host must be one of 127\.0\.0\.1:/);
    }
    for (const host of [
      `localhost:${rig.gateway.port}`,
      `LOCALHOST:${rig.gateway.port}`,
      `[::1]:${rig.gateway.port}`,
    ]) {
      assert.equal((await plain.post(initialize, { host })).status, 200);
    }
  });

  it('a foreign Origin is refused, also with the token', async () => {
    for (const origin of [
      'https://evil.example',
      'null',
      `http://127.0.0.1.evil.example:${rig.gateway.port}`,
    ]) {
      assertSilent(await editor.post(initialize, { origin }), 404);
      assertAdvised(
        await plain.post(initialize, { origin }),
        /The header Origin names another machine/,
      );
    }
    const answer = await plain.post(initialize, { origin: 'http://localhost:6274' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['access-control-allow-origin'], undefined);
  });

  it('unknown paths and toolsets get 404', async () => {
    const { port } = rig.gateway;
    for (const path of [
      '/',
      '/editor',
      '/editor/',
      '/editor/play/x',
      '/mcp/..%2fplay',
      '/.well-known/oauth-authorization-server',
    ]) {
      assertSilent(await editor.send('POST', '{}', {}, `http://127.0.0.1:${port}${path}`), 404);
    }
    assert.equal((await rig.client('nobody').post(initialize)).status, 404);
  });

  it('other HTTP methods get 405', async () => {
    for (const method of ['PUT', 'PATCH', 'OPTIONS']) {
      const answer = await editor.send(method);
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'GET, POST, DELETE']);
    }
  });

  it('a session belongs to its path', async () => {
    await editor.initialize();
    const other = rig.client('other', 'editor');
    for (const client of [other, plain]) {
      client.session = editor.session;
      assert.equal((await client.post(client.request('tools/list'))).status, 404);
      assert.equal((await client.send('GET')).status, 404);
      assert.equal((await client.send('DELETE')).status, 404);
    }
    assert.ok((await editor.ask('tools/list'))['result']);
  });

  it('only initialize needs no session', async () => {
    assert.equal((await editor.post(editor.request('tools/list'))).status, 400);
    assert.equal((await editor.send('GET')).status, 400);
    assert.equal((await editor.send('DELETE')).status, 400);
  });

  it('an unknown protocol version gets 400', async () => {
    await plain.initialize();
    const version = (value: string): Promise<Answer> =>
      plain.post(plain.request('ping'), { 'mcp-protocol-version': value });
    assert.equal((await version('2025-06-18')).status, 200);
    assert.equal((await version('1999-01-01')).status, 400);
  });

  it('a body of another media type gets 415', async () => {
    await plain.initialize();
    for (const type of [undefined, 'text/plain', 'application/jsonp', 'multipart/form-data']) {
      assert.equal((await plain.post(plain.request('ping'), { 'content-type': type })).status, 415);
    }
    assert.equal(
      (
        await plain.post(plain.request('ping'), {
          'content-type': 'Application/JSON; charset=utf-8',
        })
      ).status,
      200,
    );
  });

  it('a body announced as too large gets 413 before it is sent', async () => {
    await editor.initialize();
    const sent = editor.open('POST', { 'content-length': 10_001 });
    sent.flushHeaders();
    assert.equal((await editor.answer(sent)).status, 413);
    sent.on('error', () => {}).destroy();
  });

  it('a too large body gets 413, and the session lives on', async () => {
    await editor.initialize();
    const answer = await editor.send('POST', JSON.stringify({ x: 'y'.repeat(3_000_000) }), {
      'transfer-encoding': 'chunked',
    });
    assert.equal(answer.status, 413);
    assert.ok((await editor.ask('ping'))['result']);
  });

  it('a too slow body gets 408', async () => {
    await editor.initialize();
    const sent = editor.open('POST', { 'content-length': 100 });
    sent.write('{"jsonrpc":');
    await rig.clock.untilScheduled(30_000);
    const answer = editor.answer(sent);
    rig.clock.advance(30_000);
    assert.equal((await answer).status, 408);
    sent.on('error', () => {}).destroy();
  });

  it('a client that breaks off in its body leaves nothing', async () => {
    await editor.initialize();
    const sent = editor.open('POST', { 'content-length': 100 });
    sent.on('error', () => {}).write('{"jsonrpc":');
    await rig.clock.untilScheduled(30_000);
    const closed = rig.socketClosed();
    sent.destroy();
    await closed;
    assert.equal(rig.clock.pending, 0);
  });

  it('bytes other than HTTP get 400, and the socket is closed', async () => {
    const socket = connect(rig.gateway.port ?? 0, '127.0.0.1').setEncoding('utf8');
    socket.write('hello\r\n\r\n');
    const [text] = (await once(socket, 'data')) as [string];
    assert.match(text, /^HTTP\/1\.1 400 /);
    await once(socket, 'close');
  });

  it('sessions are bounded: the one idle for longest goes, and gets 404', async () => {
    await editor.initialize();
    for (let n = 0; n < 3; n++) {
      rig.clock.advance(1);
      await rig.client().initialize();
    }
    assert.equal(rig.gateway.activityOf('play').sessions, 3);
    assert.equal((await editor.post(editor.request('ping'))).status, 404);
  });

  it('initialize gets an error if all sessions have calls in flight', async () => {
    for (let n = 0; n < 3; n++) {
      const client = rig.client();
      await client.initialize();
      client.call({ name: 'click' });
      await rig.backend.nextCall();
    }
    assert.deepEqual((await editor.initialize())['error'], {
      code: -32000,
      message: 'Too many sessions are open.',
    });
  });

  it('an exception during initialize is 404 and a line in the log', async () => {
    rig.backend.broken.add('play');
    const answer = await editor.post(initialize);
    assertSilent(answer, 404);
    assert.match(rig.log.lines.join(), /error: .*no list/);
  });

  it('an exception during a listing is an internal error without details', async () => {
    await editor.initialize();
    rig.backend.broken.add('play');
    assert.deepEqual((await editor.ask('tools/list'))['error'], {
      code: -32603,
      message: 'The request failed inside MCP Toolsets; its log says more.',
    });
  });

  it('the log never contains the token', async () => {
    await editor.send('POST', '{}', { Authorization: 'Bearer wrong-token-of-somebody' });
    await editor.post(initialize, { host: 'evil.example' });
    const token = rig.gateway.endpoint('play', 'editor').headers['Authorization']?.slice(7);
    assert.ok(rig.log.lines.length > 0);
    assert.ok(
      rig.log.lines.every((line) => !line.includes(token ?? '?') && !line.includes('wrong-token')),
    );
  });
});

describe('gateway: beginning and end', () => {
  const create = (): Gateway =>
    createGateway(
      { backend: new FakeBackend(), clock: new FakeClock(), log: new MemoryLog() },
      { version: '1' },
    );

  it('before the start there is no port and no endpoint', async () => {
    const gateway = create();
    assert.equal(gateway.port, undefined);
    assert.throws(() => gateway.endpoint('a', 'editor'), /not started/);
    await gateway.dispose();
  });

  it('a gateway disposed during or before its start does not start', async () => {
    const gateway = create();
    const started = assert.rejects(gateway.start(), /disposed/);
    await gateway.dispose();
    await started;
    await assert.rejects(gateway.start(), /disposed/);
  });

  it('disposing a gateway twice is disposing it once', async () => {
    const gateway = create();
    await gateway.start();
    await Promise.all([gateway.dispose(), gateway.dispose()]);
  });
});
