/** Rule X7a: attacks of hostile servers and authorization servers on codes, tokens and secrets. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../src/core/base/clock.js';
import { OAuth } from '../../../src/core/connections/http/oauth/oauth.js';
import { listenForRedirect } from '../../../src/core/connections/http/oauth/redirect.js';
import { issuerOf, Person, Secrets } from '../../support/core/person.js';
import { freePort } from '../../support/freePort.js';
import { http, Rig, unsaid } from './rig.js';
import { literal } from '../../../src/core/config/model.js';

const secret = 'secret-of-the-program';

interface Reply {
  readonly status?: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server with scripted answers that records its requests. */
class Evil {
  readonly seen: string[] = [];
  /** Received bodies and `Authorization` headers. */
  readonly taken: string[] = [];
  readonly answers = new Map<string, (request: IncomingMessage) => Reply>();
  private readonly server: Server;
  origin = '';

  constructor() {
    this.server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://here');
      this.seen.push(`${request.method} ${pathname}`);
      this.taken.push(request.headers.authorization ?? '');
      request.on('data', (chunk: Buffer) => this.taken.push(chunk.toString()));
      request.on('end', () => {
        const {
          status = 200,
          json,
          headers,
        } = this.answers.get(pathname)?.(request) ?? { status: 404 };
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(json === undefined ? '' : JSON.stringify(json));
      });
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.origin = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get posts(): string[] {
    return this.seen.filter((line) => line.startsWith('POST'));
  }

  /** Makes this an authorization server with this metadata. */
  publish(changes: Readonly<Record<string, unknown>> = {}): void {
    const { origin } = this;
    this.answers.set('/.well-known/oauth-authorization-server', () => ({
      json: {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        ...changes,
      },
    }));
    const redirects = ['http://127.0.0.1:33417/callback'];
    this.answers.set('/register', () => ({
      status: 201,
      json: { client_id: 'known', redirect_uris: redirects },
    }));
    this.answers.set('/token', () => ({
      json: { access_token: 'of-the-attacker', token_type: 'Bearer' },
    }));
  }

  /**
   * Makes this an MCP server that requires a sign-in at `issuer`. @param named address of its
   * metadata
   */
  guard(issuer: string, named = `${this.origin}/.well-known/oauth-protected-resource/mcp`): string {
    const url = `${this.origin}/mcp`;
    const challenge = { 'www-authenticate': `Bearer resource_metadata="${named}"` };
    this.answers.set('/mcp', () => ({ status: 401, headers: challenge }));
    this.answers.set('/.well-known/oauth-protected-resource/mcp', () => ({
      json: { resource: url, authorization_servers: [issuer] },
    }));
    return url;
  }
}

describe('attacks on sign-ins (X7a)', function () {
  this.timeout(60_000);
  const person = (): AbortSignal => new AbortController().signal;
  let oauth: OAuth;
  let rig: Rig;
  let browser: Person;
  /**
   * The attacker owns the MCP server `mcp` and the authorization server `evil`. `third` is another
   * machine.
   */
  let mcp: Evil;
  let evil: Evil;
  let third: Evil;

  beforeEach(async () => {
    oauth = new OAuth({
      secrets: new Secrets(),
      clock: systemClock,
      log: { write: () => {} },
      keepSecret: () => ({ dispose: () => {} }),
      clientVersion: '9.9.9',
    });
    rig = new Rig({ oauth });
    browser = new Person();
    [mcp, evil, third] = [new Evil(), new Evil(), new Evil()];
    await Promise.all([mcp.open(), evil.open(), third.open()]);
  });

  afterEach(async () => {
    oauth.dispose();
    await rig.end();
    await Promise.all([mcp.close(), evil.close(), third.close()]);
  });

  it('metadata that names another issuer is refused (RFC 8414 section 3.3)', async () => {
    const honest = await issuerOf((await rig.listen('oauth')).url);
    evil.publish({ issuer: honest, authorization_endpoint: `${honest}/auth` });
    const launch = http(mcp.guard(evil.origin));
    await rig.failure(launch);
    await assert.rejects(
      oauth.signIn(launch, browser, person()),
      /names .* as its issuer, so it is not trusted/,
    );
    assert.deepEqual([browser.shown, evil.posts], [[], []]);
  });

  it('a code from another authorization server is not used (RFC 9207)', async () => {
    const redirectPort = await freePort();
    const { url } = await rig.listen(
      'oauth',
      '--no-registration',
      '--redirect-port',
      `${redirectPort}`,
    );
    const honest = await issuerOf(url);
    evil.publish({ authorization_endpoint: `${honest}/auth` });
    const launch = http(mcp.guard(evil.origin), {
      oauth: { ...unsaid, clientId: 'known', redirectPort },
    });
    await rig.failure(launch);
    await assert.rejects(
      oauth.signIn(launch, browser, person()),
      /is not from .*, so the sign-in was stopped/,
    );
    const { origin } = new URL(honest);
    assert.deepEqual(browser.asked, [
      {
        server: `${mcp.origin}/mcp`,
        issuer: evil.origin,
        page: origin,
        tokens: evil.origin,
        elsewhere: [origin],
      },
    ]);
    assert.equal(browser.shown[0]?.origin, origin, 'the page was that of the honest one');
    assert.deepEqual(evil.posts, [], 'neither the code nor the verifier was sent');
  });

  describe('answers that do not name their authorization server', () => {
    /** Sends the browser back with a code, but without the name of the issuer. */
    const authorizes = (issuer: Evil): void => {
      issuer.answers.set('/authorize', ({ url = '' }) => {
        const { searchParams } = new URL(url, issuer.origin);
        const back = new URL(searchParams.get('redirect_uri') ?? '');
        back.searchParams.set('code', 'of-the-honest');
        back.searchParams.set('state', searchParams.get('state') ?? '');
        return { status: 302, headers: { location: back.href } };
      });
    };

    for (const endpoint of ['authorization', 'token', 'registration', 'revocation']) {
      it(`a ${endpoint} endpoint of another site needs the consent of the person, who sees both sites`, async () => {
        evil.publish({ [`${endpoint}_endpoint`]: `${third.origin}/${endpoint}` });
        const launch = http(mcp.guard(evil.origin));
        await rig.failure(launch);
        browser.agrees = false;
        await assert.rejects(
          oauth.signIn(launch, browser, person()),
          /You did not agree to sign in at/,
        );
        const [page, tokens] = ['authorization', 'token'].map(
          (one) => (one === endpoint ? third : evil).origin,
        );
        assert.deepEqual(browser.asked, [
          {
            server: `${mcp.origin}/mcp`,
            issuer: evil.origin,
            page,
            tokens,
            elsewhere: [third.origin],
          },
        ]);
        assert.deepEqual([browser.shown, evil.posts, third.seen], [[], [], []]);
      });
    }

    it('a sign-in continues after consent, and endpoints of one site need no consent', async () => {
      evil.publish({ authorization_endpoint: `${third.origin}/authorize` });
      authorizes(third);
      const launch = http(mcp.guard(evil.origin));
      await rig.failure(launch);
      await oauth.signIn(launch, browser, person());
      assert.ok(evil.taken.some((text) => text.includes('code=of-the-honest')));
      evil.publish();
      authorizes(evil);
      await oauth.signIn(launch, browser, person());
      assert.equal(browser.asked.length, 1);
    });

    it('the sign-in stops if the answer lacks the promised issuer, and no person is asked', async () => {
      const authorization_response_iss_parameter_supported = true;
      evil.publish({
        authorization_endpoint: `${third.origin}/authorize`,
        authorization_response_iss_parameter_supported,
      });
      authorizes(third);
      const launch = http(mcp.guard(evil.origin));
      await rig.failure(launch);
      await assert.rejects(
        oauth.signIn(launch, browser, person()),
        /is not from .*, so the sign-in was stopped/,
      );
      assert.ok(!evil.posts.includes('POST /token'));
      assert.deepEqual(browser.asked, []);
    });
  });

  it('the issuer in the answer must match to the letter (RFC 9207)', async () => {
    evil.publish({ authorization_response_iss_parameter_supported: true });
    let from = `${evil.origin}/`;
    evil.answers.set('/authorize', ({ url = '' }) => {
      const { searchParams } = new URL(url, evil.origin);
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      for (const [name, value] of [
        ['code', 'a-code'],
        ['state', searchParams.get('state') ?? ''],
        ['iss', from],
      ] as const)
        back.searchParams.set(name, value);
      return { status: 302, headers: { location: back.href } };
    });
    const launch = http(mcp.guard(evil.origin));
    await rig.failure(launch);
    await assert.rejects(
      oauth.signIn(launch, browser, person()),
      /is not from .*, so the sign-in was stopped/,
    );
    assert.ok(!evil.posts.includes('POST /token'), 'neither the code nor the verifier was sent');
    from = evil.origin;
    await oauth.signIn(launch, browser, person());
    assert.ok(evil.posts.includes('POST /token'));
  });

  for (const grant of ['client_credentials', 'authorization_code'] as const) {
    it(`the secret of the client goes only to the issuer that the config file names: ${grant}`, async () => {
      evil.publish();
      const url = mcp.guard(evil.origin);
      const { url: honestServer } = await rig.listen('oauth');
      const client = { ...unsaid, grant, clientId: 'program', clientSecret: literal(secret) };
      for (const issuer of [undefined, await issuerOf(honestServer)]) {
        const launch = http(url, { oauth: { ...client, issuer } });
        assert.equal((await rig.failure(launch)).code, 'sign-in-needed');
        await assert.rejects(
          oauth.signIn(launch, browser, person()),
          /oauth\.issuer|but the config file names/,
        );
      }
      assert.deepEqual([browser.shown, evil.posts], [[], []]);
      assert.doesNotMatch([...mcp.taken, ...evil.taken].join(), new RegExp(secret));
    });
  }

  it('only the MCP server gets requests before a person acts', async () => {
    evil.publish();
    third.answers.set('/metadata', () => ({
      json: { resource: `${mcp.origin}/mcp`, authorization_servers: [evil.origin] },
    }));
    const elsewhere = http(mcp.guard(evil.origin, `${third.origin}/metadata`));
    assert.match((await rig.failure(elsewhere)).message, /Nobody has signed in yet/);
    assert.deepEqual([evil.seen, third.seen], [[], []]);
    const closed = new AbortController();
    browser.follows = false;
    const attempt = oauth.signIn(elsewhere, browser, closed.signal);
    attempt.catch(() => undefined);
    while (browser.shown.length === 0) await new Promise((resolve) => setImmediate(resolve));
    closed.abort(new Error('closed'));
    await assert.rejects(attempt, /closed/);
    assert.deepEqual(
      [third.seen, evil.posts],
      [['GET /metadata'], ['POST /register']],
      'a person has asked for it',
    );
  });

  for (const path of ['/register', '/token']) {
    it(`a redirect of ${path} sends nothing to another origin`, async () => {
      evil.publish();
      const { url } = await rig.listen('oauth');
      const client = {
        ...unsaid,
        grant: 'client_credentials',
        clientId: 'program',
        clientSecret: literal(secret),
      } as const;
      const oauthOf = { '/register': unsaid, '/token': { ...client, issuer: evil.origin } }[path];
      evil.answers.set(path, () => ({
        status: 307,
        headers: { location: `${third.origin}${path}` },
      }));
      const launch = http(mcp.guard(evil.origin), { ...(oauthOf && { oauth: oauthOf }) });
      await rig.failure(launch);
      if (path === '/register') await assert.rejects(oauth.signIn(launch, browser, person()));
      assert.ok(evil.posts.includes(`POST ${path}`), url);
      assert.deepEqual(third.seen, []);
    });
  }

  it('an invalid address does not end the wait for the browser', async () => {
    const redirect = await listenForRedirect(undefined, false);
    const back = redirect.comesBack('state', person());
    const get = async (path: string): Promise<number | undefined> => {
      const [reply] = (await once(request({ port: redirect.port, path }).end(), 'response')) as [
        IncomingMessage,
      ];
      reply.resume();
      return reply.statusCode;
    };
    assert.equal(await get('//'), 404);
    assert.equal(await get('/callback?state=state&code=1'), 200);
    assert.equal((await back).get('code'), '1');
    await redirect.close();
  });

  it('a redirect of the MCP server sends no message to another origin', async () => {
    mcp.answers.set('/mcp', () => ({ status: 307, headers: { location: `${third.origin}/mcp` } }));
    assert.match(
      (await rig.failure(http(`${mcp.origin}/mcp`))).message,
      /redirects to another origin/,
    );
    assert.deepEqual(third.seen, []);
  });
});
