/** Programs that sign in (grant `client_credentials`), and authorization servers that fail. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { FetchAgain, Verdict } from '../../../../../src/core/connections/http/endpoint.js';
import { OAuthAccess } from '../../../../../src/core/connections/http/oauth/oauth.js';
import { literal, type HttpLaunch } from '../../../../../src/core/config/model.js';
import { FakeClock } from '../../../../support/fakes/fakeClock.js';

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Record<string, string>;
}

const token: Answer = { status: 200, body: { access_token: 'tok', token_type: 'Bearer' } };

/** The pauses before another try pass at once, and no limit does. */
class EagerClock extends FakeClock {
  override after(ms: number, run: () => void): { dispose(): void } {
    const timer = super.after(ms, run);
    if (ms <= 1000) setImmediate(() => this.advance(ms));
    return timer;
  }
}

describe('a program that signs in', () => {
  let server: Server;
  let access: OAuthAccess;
  let origin: string;
  /** The secrets in the requests for a token. */
  let asked: string[];
  /** The answers to the requests for a token; the last one stays. */
  let answers: Answer[];

  const launchWith = (secret: string): HttpLaunch => ({
    transport: 'streamable_http',
    url: literal(`${origin}/mcp`),
    headers: new Map(),
    sessionId: '',
    oauth: {
      grant: 'client_credentials',
      clientId: 'me',
      clientSecret: literal(secret),
      privateKey: undefined,
      issuer: origin,
      scopes: [],
      redirectPort: undefined,
    },
  });

  beforeEach(async () => {
    asked = [];
    const stored = new Map<string, string>();
    server = createServer((request, response) => {
      const say = ({ status, body, headers }: Answer): void =>
        void response
          .writeHead(status, { 'content-type': 'application/json', ...headers })
          .end(JSON.stringify(body));
      request.resume().on('end', () => {
        if (request.url === '/token') {
          const [, basic = ''] = (request.headers.authorization ?? '').split(' ');
          asked.push(Buffer.from(basic, 'base64').toString());
          return say((answers.length > 1 ? answers.shift() : answers[0]) ?? token);
        }
        if (request.url !== '/.well-known/oauth-authorization-server')
          return say({ status: 404, body: {} });
        const metadata = {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          response_types_supported: ['code'],
        };
        return say({ status: 200, body: metadata });
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    access = new OAuthAccess({
      launch: launchWith('secret'),
      key: 'key',
      secrets: {
        get: (key) => Promise.resolve(stored.get(key)),
        store: (key, value) => Promise.resolve(void stored.set(key, value)),
        delete: (key) => Promise.resolve(void stored.delete(key)),
        onDidChange: () => ({ dispose: () => {} }),
        exclusively: (_, work) => work(),
      },
      clock: new EagerClock(),
      log: { write: () => {} },
      keepSecret: () => ({ dispose: () => {} }),
      clientVersion: '1',
      onChange: () => {},
    });
  });

  afterEach(() => {
    access.dispose();
    server.closeAllConnections();
    server.close();
  });

  const refused = (status = 401, header = 'Bearer', used?: string): Promise<Verdict> =>
    access.refused({ status, header }, used, false);

  const words = (verdict: Verdict): string => ('why' in verdict ? verdict.why : '');

  for (const fault of [
    { status: 503, body: { message: 'maintenance' } },
    { status: 429, body: { error: 'slow_down' } },
    { status: 500, body: { error: 'server_error', error_description: 'boom' } },
  ]) {
    it(`a fault of the moment is asked again: HTTP ${fault.status} (X7b)`, async () => {
      answers = [fault, fault, token];
      assert.deepEqual(await refused(), { kind: 'renewed' });
      assert.equal(asked.length, 3);
      assert.equal(await access.token(), 'tok');
    });

    it(`a fault of the moment that stays blames no client: HTTP ${fault.status} (X7b)`, async () => {
      answers = [fault];
      const verdict = await refused();
      assert.equal(verdict.kind, 'notRenewed');
      assert.match(
        words(verdict),
        new RegExp(`answered with HTTP ${fault.status}: .*(maintenance|slow_down|boom)`),
      );
      assert.equal(access.status.kind, 'none');
    });
  }

  it('a long Retry-After of an authorization server is a fault of the moment that names the time (X7b)', async () => {
    answers = [{ status: 429, body: {}, headers: { 'retry-after': '300' } }];
    assert.match(words(await refused()), /Ask again in 300 s\.$/);
    assert.equal(asked.length, 1);
  });

  it('an error that is an object is shown in its words', async () => {
    answers = [{ status: 403, body: { error: { code: 'no', message: 'tenant is blocked' } } }];
    assert.match(words(await refused()), /HTTP 403: tenant is blocked$/);
  });

  it('a wrong client is a fault of the client, and its program prints the secret again once', async () => {
    answers = [{ status: 401, body: { error: 'invalid_client' } }];
    const first = await refused();
    assert.match(JSON.stringify(first), /invalid_client.*Check clientId/);
    asked = [];
    const again: FetchAgain = () => Promise.resolve(launchWith('rotated'));
    access.fetchAgain = again;
    answers = [{ status: 401, body: { error: 'invalid_client' } }, token];
    assert.deepEqual(await refused(), { kind: 'renewed' });
    assert.deepEqual(asked, ['me:secret', 'me:rotated']);
  });

  it('a program that lacks a right learns about scopes, not about signing in (X7b)', async () => {
    answers = [token];
    await refused();
    const header = 'Bearer error="insufficient_scope", scope="files:write"';
    const verdict = await refused(403, header, 'tok');
    assert.match(
      JSON.stringify(verdict),
      /needs more rights: files:write\..*`scopes` under `oauth`/,
    );
    assert.doesNotMatch(JSON.stringify([verdict, access.status]), /[Ss]ign in/);
    assert.match(JSON.stringify(access.status), /"lacks":"files:write","fix":".*`scopes`/);
  });
});
