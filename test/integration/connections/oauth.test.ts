/** Rule X7: signing in to HTTP servers. Each test starts a real authorization server. */
import assert from 'node:assert/strict';
import { once as nextOf } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../src/core/base/clock.js';
import { Redactor, redactingLog } from '../../../src/core/base/log.js';
import { literal } from '../../../src/core/config/model.js';
import type { OAuthSettings } from '../../../src/core/config/model.js';
import type { Connection } from '../../../src/core/connections/connection.js';
import { OAuth } from '../../../src/core/connections/http/oauth/oauth.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { collect } from '../../support/heap.js';
import { within } from '../../support/core/within.js';
import { control, issuerOf, Person, Secrets, whatIsLacking } from '../../support/core/person.js';
import { freePort } from '../../support/freePort.js';
import { callTool, http, once, Rig, textOf, unsaid } from './rig.js';

describe('sign-ins to HTTP servers', function () {
  this.timeout(60_000);
  const person = (): AbortSignal => new AbortController().signal;
  const redactor = new Redactor();
  let secrets: Secrets;
  let windows: OAuth[];
  let oauth: OAuth;
  let rig: Rig;
  let browser: Person;

  function openWindow(): OAuth {
    const log = redactingLog({ write: (level, text) => rig.lines.push({ level, text }) }, redactor);
    const keepSecret = (values: readonly string[]) => redactor.register(values);
    const opened = new OAuth({
      secrets,
      clock: systemClock,
      log,
      keepSecret,
      clientVersion: '9.9.9',
    });
    windows.push(opened);
    return opened;
  }

  beforeEach(() => {
    secrets = new Secrets();
    windows = [];
    oauth = openWindow();
    rig = new Rig({ oauth });
    browser = new Person();
  });
  afterEach(async () => {
    for (const opened of windows) opened.dispose();
    await rig.end();
  });

  const seen = async (url: string): Promise<string[]> => (await control(url, 'seen')) as string[];

  async function signedIn(...args: string[]): Promise<{ url: string; connection: Connection }> {
    const { url } = await rig.listen('oauth', ...args);
    await rig.failure(http(url));
    await oauth.signIn(http(url), browser, person());
    return { url, connection: (await rig.start(http(url))).connection };
  }

  it('the search for sign-in metadata ends after half a minute without an answer (S2)', async () => {
    const clock = new FakeClock();
    const server = createServer();
    await nextOf(server.listen(0, '127.0.0.1'), 'listening');
    const asked = nextOf(server, 'request');
    const { port } = server.address() as AddressInfo;
    const opened = new OAuth({
      secrets,
      clock,
      log: { write: () => {} },
      keepSecret: () => ({ dispose: () => {} }),
      clientVersion: '9.9.9',
    });
    windows.push(opened);
    const refusal = { status: 401, header: 'Bearer' };
    const verdict = opened
      .accessFor(http(`http://127.0.0.1:${port}/mcp`))
      ?.refused(refusal, undefined, false);
    await asked;
    collect();
    clock.advance(30_000);
    try {
      assert.deepEqual(await within(Promise.resolve(verdict), 'the limit'), { kind: 'other' });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('a start reports that a person must sign in, and opens no browser', async () => {
    const { url } = await rig.listen('oauth');
    const changed = once(oauth.onDidChange);
    const failure = await rig.failure(http(url));
    assert.deepEqual([failure.code, failure.path], ['sign-in-needed', []]);
    assert.match(failure.message, /needs a sign-in\. Nobody has signed in yet\.$/);
    await changed;
    assert.match(
      JSON.stringify(oauth.statusOf(http(url))),
      /"needed","why":"Nobody has signed in yet\."/,
    );
    assert.deepEqual(browser.shown, []);
    assert(
      !(await seen(url)).some((line) => line.startsWith('POST')),
      'nothing is registered before a person asks',
    );
  });

  it('a sign-in registers, uses PKCE, names resource and scope, and stores its tokens', async () => {
    const { url, connection } = await signedIn();
    assert.equal(await textOf(connection, 'whoami'), 'ada files:read');
    const [shown, ...others] = browser.shown;
    assert.deepEqual(others, []);
    const asked = shown?.searchParams;
    assert.equal(asked?.get('code_challenge_method'), 'S256');
    assert.equal(asked.get('resource'), url);
    assert.equal(asked.get('scope'), 'files:read');
    assert.match(asked.get('redirect_uri') ?? '', /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    assert.match(browser.lastPage, /You can close this page/);
    assert.deepEqual(whatIsLacking(oauth.statusOf(http(url))), ['signedIn', undefined]);
    // The next window needs no person.
    const later = new Rig({ oauth: openWindow() });
    const { connection: second } = await later.start(http(url));
    assert.equal(await textOf(second, 'whoami'), 'ada files:read');
    await later.end();
  });

  it('metadata is found at the well-known address if the refusal does not name it', async () => {
    const { connection } = await signedIn('--well-known-only');
    assert.equal(await textOf(connection, 'whoami'), 'ada files:read');
  });

  it('no sign-in is offered if the server does not advertise one', async () => {
    const { url } = await rig.listen('oauth', '--no-advertise');
    const failure = await rig.failure(http(url));
    assert.equal(failure.code, 'http-unauthorized');
    assert.deepEqual(oauth.statusOf(http(url)), { kind: 'none' });
  });

  it('no sign-in is offered if the config file has an Authorization header for the server', async () => {
    const { url } = await rig.listen('oauth');
    const launch = http(url, { headers: new Map([['authorization', literal('Bearer mine')]]) });
    assert.equal((await rig.failure(launch)).code, 'http-unauthorized');
    assert.deepEqual(await seen(url), []);
    await assert.rejects(oauth.signIn(launch, browser, person()), /Authorization header/);
  });

  it('a revoked access token is renewed once for all calls, and no call is lost', async () => {
    const { url, connection } = await signedIn();
    const before = (await seen(url)).filter((line) => line === 'POST /token').length;
    await control(url, 'end-access');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => textOf(connection, 'whoami')),
    );
    assert.deepEqual(new Set(answers), new Set(['ada files:read']));
    assert.equal((await seen(url)).filter((line) => line === 'POST /token').length, before + 1);
    assert.equal(browser.shown.length, 1);
  });

  it('a token is renewed before it expires', async () => {
    const { url, connection } = await signedIn('--life', '1');
    const renewals = async (): Promise<number> =>
      (await seen(url)).filter((line) => line === 'POST /token').length;
    for (const first = await renewals(); (await renewals()) < first + 2;) {
      assert.equal(await textOf(connection, 'whoami'), 'ada files:read');
    }
    assert.equal(browser.shown.length, 1);
  });

  it('a person must sign in if renewal is impossible, and then the same connection works again', async () => {
    const { url, connection } = await signedIn();
    await control(url, 'end-all');
    const outcome = await callTool(connection, 'whoami');
    assert.equal(outcome.kind, 'error');
    assert.match(
      (outcome as { message: string }).message,
      /needs a sign-in\. The sign-in has ended/,
    );
    assert.equal(oauth.statusOf(http(url)).kind, 'needed');
    await oauth.signIn(http(url), browser, person());
    assert.equal(await textOf(connection, 'whoami'), 'ada files:read');
    assert.equal(
      (await seen(url)).filter((line) => line === 'POST /reg').length,
      1,
      'registered once',
    );
  });

  it('a sign-in registers again if the authorization server has forgotten the client', async () => {
    const { url, connection } = await signedIn();
    await control(url, 'forget-clients');
    assert.equal((await callTool(connection, 'whoami')).kind, 'error');
    await oauth.signIn(http(url), browser, person());
    assert.equal(await textOf(connection, 'whoami'), 'ada files:read');
    assert.equal((await seen(url)).filter((line) => line === 'POST /reg').length, 2);
  });

  it('a sign-in registers again after one that never returned from the browser', async () => {
    const { url } = await signedIn();
    await oauth.signOut(http(url));
    await control(url, 'forget-clients');
    const closed = new AbortController();
    const attempt = oauth.signIn(http(url), browser, closed.signal);
    const refused = assert.rejects(attempt, /closed by the person/);
    while (!/invalid_client/.test(browser.lastPage))
      await new Promise((resolve) => setImmediate(resolve));
    closed.abort(new Error('closed by the person'));
    await refused;
    await oauth.signIn(http(url), browser, person());
    assert.deepEqual(whatIsLacking(oauth.statusOf(http(url))), ['signedIn', undefined]);
  });

  it('a refused sign-in reports the reason', async () => {
    const { url } = await rig.listen('oauth');
    await rig.failure(http(url));
    await control(url, 'deny');
    await assert.rejects(
      oauth.signIn(http(url), browser, person()),
      /The sign-in was refused \(access_denied: not today\)/,
    );
    assert.match(browser.lastPage, /Not signed in/);
    await control(url, 'consent');
    await oauth.signIn(http(url), browser, person());
    await rig.start(http(url));
  });

  it('a sign-in adds the scopes that a call needs to the granted scopes', async () => {
    const { url, connection } = await signedIn();
    const outcome = await callTool(connection, 'write');
    assert.match(
      (outcome as { message: string }).message,
      /needs more rights: files:write\. Sign in again/,
    );
    assert.deepEqual(whatIsLacking(oauth.statusOf(http(url))), ['signedIn', 'files:write']);
    assert.equal(await textOf(connection, 'whoami'), 'ada files:read', 'all else goes on');
    await oauth.signIn(http(url), browser, person());
    assert.equal(browser.shown[1]?.searchParams.get('scope'), 'files:read files:write');
    assert.equal(await textOf(connection, 'write'), 'written');
    assert.equal(await textOf(connection, 'whoami'), 'ada files:read files:write');
    assert.deepEqual(whatIsLacking(oauth.statusOf(http(url))), ['signedIn', undefined]);
  });

  it('a sign-out revokes and deletes the tokens in every window', async () => {
    const { url, connection } = await signedIn();
    const other = openWindow();
    const otherRig = new Rig({ oauth: other });
    await otherRig.start(http(url));
    const told = once(other.onDidChange);
    await oauth.signOut(http(url));
    assert.match(JSON.stringify(oauth.statusOf(http(url))), /"needed","why":"You signed out\."/);
    await told;
    assert.equal(other.statusOf(http(url)).kind, 'needed');
    assert.equal((await seen(url)).filter((line) => line === 'POST /token/revocation').length, 2);
    assert.equal((await callTool(connection, 'whoami')).kind, 'error');
    assert(![...secrets.values.values()].some((text) => text.includes('access_token')));
    await otherRig.end();
  });

  it('a window uses the tokens that another window has renewed', async () => {
    const { url, connection } = await signedIn();
    const otherRig = new Rig({ oauth: openWindow() });
    const { connection: other } = await otherRig.start(http(url));
    await control(url, 'end-access');
    const before = (await seen(url)).filter((line) => line === 'POST /token').length;
    assert.equal(await textOf(other, 'whoami'), 'ada files:read');
    assert.equal(await textOf(connection, 'whoami'), 'ada files:read');
    assert.equal((await seen(url)).filter((line) => line === 'POST /token').length, before + 1);
    await otherRig.end();
  });

  it('a failed renewal is reported if the authorization server is down, and the sign-in is kept', async () => {
    const { url, connection } = await signedIn();
    await control(url, 'end-access');
    await control(url, 'close');
    const outcome = await callTool(connection, 'whoami');
    assert.match((outcome as { message: string }).message, /There is no valid token for .*: .*503/);
    assert.equal(oauth.statusOf(http(url)).kind, 'signedIn');
    await control(url, 'open');
    assert.equal(await textOf(connection, 'whoami'), 'ada files:read');
  });

  it('a sign-in uses the client and the redirect port of the config file', async () => {
    const redirectPort = await freePort();
    const { url } = await rig.listen(
      'oauth',
      '--no-registration',
      '--redirect-port',
      `${redirectPort}`,
    );
    await rig.failure(http(url));
    await assert.rejects(
      oauth.signIn(http(url), browser, person()),
      /does not register clients automatically\. Register one there with the redirect address .*oauth\.clientId/,
    );
    const launch = http(url, {
      oauth: { ...unsaid, clientId: 'known', redirectPort, scopes: ['files:write'] },
    });
    await rig.failure(launch);
    await oauth.signIn(launch, browser, person());
    const { connection } = await rig.start(launch);
    assert.equal(await textOf(connection, 'whoami'), 'ada files:write');
    const unknown = http(url, { oauth: { ...unsaid, clientId: 'nobody' } });
    await rig.failure(unknown);
    const closed = new AbortController();
    const attempt = oauth.signIn(unknown, browser, closed.signal);
    attempt.catch(() => undefined);
    while (!/invalid_client/.test(browser.lastPage))
      await new Promise((resolve) => setImmediate(resolve));
    closed.abort(new Error('closed'));
    await assert.rejects(attempt, /closed/);
  });

  it('a program signs in without a person if the config file says so', async () => {
    const { url } = await rig.listen('oauth');
    const issuer = await issuerOf(url);
    const program: OAuthSettings = {
      ...unsaid,
      grant: 'client_credentials',
      clientId: 'program',
      issuer,
    };
    const launch = http(url, {
      oauth: { ...program, clientSecret: literal('secret-of-the-program') },
    });
    const { connection } = await rig.start(launch);
    assert.equal(await textOf(connection, 'whoami'), 'program files:read');
    await control(url, 'end-access');
    assert.equal(await textOf(connection, 'whoami'), 'program files:read');
    const wrong = http(url, {
      oauth: { ...program, clientId: 'programm', clientSecret: literal('wrong-secret') },
    });
    const failure = await rig.failure(wrong);
    assert.equal(failure.code, 'sign-in-needed');
    assert.match(failure.message, /gave no token to programm: invalid_client/);
  });

  it('tokens go only to the origin of the server', async () => {
    const { url } = await signedIn();
    let seenThere: string | undefined = 'not asked';
    const elsewhere = createServer((request, response) => {
      seenThere = request.headers.authorization;
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const { port } = elsewhere.address() as { port: number };
    const access = oauth.accessFor(http(url));
    assert(access);
    const { HttpEndpoint } = await import('../../../src/core/connections/http/endpoint.js');
    const endpoint = new HttpEndpoint(http(url), '9.9.9', access);
    const reply = await endpoint.post('{}', 'other', {
      signal: person(),
      url: new URL(`http://127.0.0.1:${port}/`),
    });
    reply.body.resume();
    endpoint.dispose();
    elsewhere.closeAllConnections();
    await new Promise((resolve) => elsewhere.close(resolve));
    assert.equal(seenThere, undefined);
  });

  it('a sign-in lasts as long as the window if it cannot be stored', async () => {
    secrets.store = () => Promise.reject(new Error('no key ring'));
    const { url, connection } = await signedIn();
    await rig.logged('could not be stored, so it ends with this window');
    await control(url, 'end-access');
    assert.equal(await textOf(connection, 'whoami'), 'ada files:read');
  });

  it('tokens are never written to a log', async () => {
    rig.traces = true;
    const { url, connection } = await signedIn();
    await textOf(connection, 'whoami');
    await control(url, 'end-access');
    await textOf(connection, 'whoami');
    const text = [...secrets.values.values()].join();
    const tokens = [...text.matchAll(/"(?:access|refresh)_token":"([^"]+)"/g)].map(
      ([, token]) => token ?? '',
    );
    assert.equal(tokens.length, 2);
    for (const { text: line } of rig.lines)
      for (const token of tokens) assert(!line.includes(token), line);
    assert.equal(redactor.redact(`it said ${tokens[0]}`), 'it said •••');
  });
});
