/** REST on the listener (G2, G7): access, bounds, and JSON in every answer. */
import assert from 'node:assert/strict';
import { createGateway, type Gateway } from '../../../src/core/gateway/http/gateway.js';
import type { RestBackend } from '../../../src/core/gateway/http/rest.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { FakeBackend, MemoryLog } from '../../unit/gateway/fakes.js';
import { RawClient, type Answer } from './rawClient.js';

const path = '/api/v1/users/mcp/upstreams';

describe('gateway: REST', () => {
  let gateway: Gateway;
  let clock: FakeClock;
  let log: MemoryLog;
  let client: RawClient;
  let added: unknown[];

  const backend: RestBackend = {
    upstreams: (urlOf) => [{ id: 'a', url: urlOf('a') }],
    upstream: (id) => (id === 'a' ? { id } : undefined),
    tools: () => ({ kind: 'value', status: 200, value: { tools: [] } }),
    add: (body) => {
      added.push(body);
      if (body === 'throw') throw new Error('secret cause');
      return Promise.resolve({ kind: 'value', status: 201, value: { upstream: body } });
    },
  };

  beforeEach(async () => {
    [clock, log, added] = [new FakeClock(), new MemoryLog(), []];
    const stable = { port: 0, token: 'A'.repeat(43) };
    gateway = createGateway(
      { backend: new FakeBackend(), clock, log, rest: backend },
      { version: '1', stable },
    );
    await gateway.start();
    client = new RawClient(gateway.endpoint('a', 'agent'));
  });

  afterEach(async () => {
    await gateway.dispose();
    client.close();
    assert.equal(clock.pending, 0);
  });

  const at = (where: string): string => `http://127.0.0.1:${gateway.port}${where}`;
  const send = (method: string, where = path, body?: string, headers = {}): Promise<Answer> =>
    client.send(method, body, headers, at(where));

  function fails({ status, headers, body }: Answer, expected: number, code: string): void {
    assert.equal(status, expected, body);
    assert.equal(headers['content-type'], 'application/json');
    const { error } = JSON.parse(body) as { error: { code: string; message: string } };
    assert.equal(error.code, code);
    assert.match(error.message, /^.{10,}\.$/);
  }

  it('REST answers with JSON, and with the address of the toolset over MCP', async () => {
    const { status, headers, body } = await send('GET');
    assert.deepEqual([status, headers['content-type']], [200, 'application/json']);
    assert.deepEqual(JSON.parse(body), { upstreams: [{ id: 'a', url: at('/mcp/a') }] });
    assert.deepEqual(JSON.parse((await send('GET', `${path}/a/tools?x=1`)).body), { tools: [] });
    assert.deepEqual(JSON.parse((await send('GET', `${path}/a/`)).body), { upstream: { id: 'a' } });
    assert.equal((await send('POST', path, '{"id":"b"}')).status, 201);
    assert.deepEqual(added, [{ id: 'b' }]);
  });

  it('REST answers 401 without the token, and 403 to a foreign Host or Origin, on every path (G7)', async () => {
    for (const where of [path, '/api', '/api/other']) {
      const answer = await send('GET', where, undefined, {
        Authorization: `Bearer ${'B'.repeat(43)}`,
      });
      fails(answer, 401, 'token-wrong');
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
      assert.equal(answer.headers.connection, 'close');
      fails(await send('POST', where, '{}', { Authorization: undefined }), 401, 'token-wrong');
    }
    fails(await send('GET', path, undefined, { host: 'evil.example' }), 403, 'not-local');
    fails(await send('POST', path, '{}', { origin: 'https://evil.example' }), 403, 'not-local');
    assert.deepEqual(added, []);
  });

  it('an unknown path or method and a body other than JSON are errors with a code', async () => {
    fails(await send('GET', '/api/v1'), 404, 'path-unknown');
    fails(await send('GET', `${path}/a/other`), 404, 'path-unknown');
    fails(await send('GET', `${path}/none/tools`), 404, 'upstream-unknown');
    const wrong = await send('DELETE');
    fails(wrong, 405, 'method-not-allowed');
    assert.equal(wrong.headers.allow, 'GET, POST');
    fails(await send('POST', `${path}/a`, '{}'), 405, 'method-not-allowed');
    fails(await send('POST', path, '{'), 400, 'not-json');
    fails(
      await send('POST', path, '{}', { 'content-type': 'text/plain' }),
      415,
      'content-type-wrong',
    );
  });

  it('a too large or too slow body is refused, and exceptions stay in the log', async () => {
    fails(await send('POST', path, `"${'x'.repeat(2 ** 24)}"`), 413, 'body-too-large');
    const slow = client.open('POST', {}, at(path));
    const answer = client.answer(slow);
    slow.write('{');
    await clock.untilScheduled(10_000);
    clock.advance(10_000);
    fails(await answer, 408, 'body-too-slow');
    slow.destroy();
    const thrown = await send('POST', path, '"throw"');
    fails(thrown, 500, 'internal');
    assert.ok(!thrown.body.includes('secret cause'));
    assert.ok(JSON.stringify(log).includes('secret cause'));
  });

  it('a gateway without REST answers 404 at its paths', async () => {
    const other = createGateway({ backend: new FakeBackend(), clock, log }, { version: '1' });
    await other.start();
    const { headers } = other.endpoint('a', 'agent');
    const { status, body } = await client.send(
      'GET',
      undefined,
      headers,
      `http://127.0.0.1:${other.port}${path}`,
    );
    assert.deepEqual([status, body], [404, '']);
    await other.dispose();
  });
});
