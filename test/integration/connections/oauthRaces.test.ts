/** Rule X7b: a sign-in stays consistent during concurrent renewals, sign-ins and refusals. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../../src/core/base/clock.js';
import type { Verdict } from '../../../src/core/connections/http/endpoint.js';
import { parseKept } from '../../../src/core/connections/http/oauth/grant.js';
import { OAuth, type OAuthAccess } from '../../../src/core/connections/http/oauth/oauth.js';
import { signInLock } from '../../../src/core/files/signInLock.js';
import { LeapingClock } from '../../support/core/leapingClock.js';
import { Person, Secrets, whatIsLacking } from '../../support/core/person.js';
import { TokenServer } from '../../support/core/tokenServer.js';
import { http } from './rig.js';

describe('concurrent renewals, sign-ins and refusals (X7b)', () => {
  const person = (): AbortSignal => new AbortController().signal;
  let server: TokenServer;
  let clock: LeapingClock;
  let secrets: Secrets;
  let oauth: OAuth;
  let browser: Person;
  let access: OAuthAccess;
  let token: string | undefined;

  afterEach(async () => {
    oauth.dispose();
    await server.close();
  });

  /** @param life lifetime of an access token, in seconds */
  async function signedIn(
    life?: number,
    change: (server: TokenServer) => void = () => {},
  ): Promise<void> {
    server = new TokenServer(life);
    change(server);
    await server.open();
    clock = new LeapingClock();
    secrets = new Secrets();
    browser = new Person();
    const keepSecret = () => ({ dispose: () => {} });
    oauth = new OAuth({
      secrets,
      clock,
      log: { write: () => {} },
      keepSecret,
      clientVersion: '9.9.9',
    });
    const found = oauth.accessFor(http(server.url));
    assert(found);
    access = found;
    assert.equal((await refused(undefined)).kind, 'signIn');
    await signIn();
    token = await access.token();
  }

  const signIn = (): Promise<void> => oauth.signIn(http(server.url), browser, person());
  const status = () => oauth.statusOf(http(server.url));
  const refused = (used: string | undefined): Promise<Verdict> =>
    access.refused({ status: 401, header: server.challenge }, used, false);
  const lacks = (parameters: string, used = token): Promise<Verdict> =>
    access.refused(
      { status: 403, header: `Bearer error="insufficient_scope"${parameters}` },
      used,
      false,
    );
  const authorized = (): string[] => server.seen.filter((line) => line.startsWith('authorize'));
  const keptTokens = (): boolean =>
    [...secrets.values.values()].some((text) => text.includes('access_token'));

  /** Holds every renewal. Resolves with the release function of the first one. */
  function held(): Promise<() => void> {
    return new Promise((resolve) => {
      server.holds = () => new Promise((release) => resolve(release));
    });
  }

  describe('renewals of a token', () => {
    it('a renewal does not undo a sign-out, and its new tokens are revoked', async () => {
      await signedIn();
      const renewing = held();
      const verdict = refused(token);
      const release = await renewing;
      await oauth.signOut(http(server.url));
      release();
      assert.deepEqual(await verdict, { kind: 'signIn', why: 'You signed out.' });
      assert.equal(status().kind, 'needed');
      assert.equal(await access.token(), undefined);
      assert.deepEqual([keptTokens(), [...server.refresh.keys()]], [false, []]);
    });

    it('a renewal does not undo the sign-out of another window', async () => {
      await signedIn();
      const renewing = held();
      const verdict = refused(token);
      const release = await renewing;
      for (const key of secrets.values.keys()) secrets.values.delete(key);
      release();
      assert.equal((await verdict).kind, 'signIn');
      assert.deepEqual([keptTokens(), [...server.refresh.keys()]], [false, []]);
    });

    it('a renewal neither changes nor delays a newer sign-in', async () => {
      await signedIn();
      await lacks(', scope="write"');
      const renewing = held();
      const verdict = refused(token);
      const release = await renewing;
      server.holds = undefined;
      await signIn();
      const newer = await access.token();
      assert.notEqual(newer, token);
      assert.equal((await refused(newer)).kind, 'renewed');
      const newest = await access.token();
      release();
      assert.equal((await verdict).kind, 'renewed');
      assert.equal(await access.token(), newest);
      assert.deepEqual(whatIsLacking(status()), ['signedIn', undefined]);
    });

    it('a renewal without an answer ends after half a minute, and the sign-in lasts', async () => {
      await signedIn();
      const renewing = held();
      const limited = clock.nextWait(30_000);
      const verdict = refused(token);
      await Promise.all([renewing, limited]);
      clock.leap(30_000);
      assert.deepEqual(await verdict, { kind: 'notRenewed', why: 'No answer came within 30 s.' });
      assert.equal(status().kind, 'signedIn');
    });

    it('a token that is read from the store during a sign-out is ignored', async () => {
      await signedIn();
      const [text] = [...secrets.values.values()];
      let answer: (text: string | undefined) => void = () => {};
      secrets.get = () => new Promise((resolve) => (answer = resolve));
      const reread = access.kept.reread();
      await new Promise(setImmediate);
      const signedOut = oauth.signOut(http(server.url));
      answer(text);
      await Promise.all([reread, signedOut]);
      assert.equal(await access.token(), undefined);
    });
  });

  it('an abandoned sign-in keeps the previous sign-in and its client', async () => {
    await signedIn();
    await lacks(', scope="write"');
    browser.follows = false;
    const closed = new AbortController();
    const attempt = oauth.signIn(http(server.url), browser, closed.signal);
    const givenUp = assert.rejects(attempt, /closed/);
    while (browser.shown.length < 2) await new Promise(setImmediate);
    closed.abort(new Error('closed'));
    await givenUp;
    const [before, after] = browser.shown.map(({ searchParams }) => searchParams.get('client_id'));
    assert.notEqual(before, after);
    assert.equal((await refused(token)).kind, 'renewed');
    assert.equal(server.seen.at(-1), `${before} renews what ${before} has`);
    browser.follows = true;
    await signIn();
    await oauth.signOut(http(server.url));
    assert.equal(keptTokens(), false);
  });

  it('two windows of an editor with one old token make one renewal, under the lock beside their storage (X7e)', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-windows-'));
    const windows: OAuth[] = [];
    try {
      await signedIn();
      const asked = server.seen.length;
      const shared = secrets;
      const accesses = [1, 2].map(() => {
        const window = new OAuth({
          // Each window makes its lock of its own, over one folder.
          secrets: {
            get: (key) => shared.get(key),
            store: (key, value) => shared.store(key, value),
            delete: (key) => shared.delete(key),
            // The news of another window may come late.
            onDidChange: () => ({ dispose: () => {} }),
            exclusively: signInLock(folder, systemClock),
          },
          clock: systemClock,
          log: { write: () => {} },
          keepSecret: () => ({ dispose: () => {} }),
          clientVersion: '9.9.9',
        });
        windows.push(window);
        const found = window.accessFor(http(server.url));
        assert(found);
        return found;
      });
      assert.deepEqual(await Promise.all(accesses.map((one) => one.token())), [token, token]);
      const refusal = { status: 401, header: server.challenge };
      const renewing = held();
      const verdicts = Promise.all(accesses.map((one) => one.refused(refusal, token, false)));
      (await renewing)();
      assert.deepEqual(
        (await verdicts).map(({ kind }) => kind),
        ['renewed', 'renewed'],
      );
      assert.equal(server.seen.length, asked + 1, server.seen.join('\n'));
      const [one, two] = await Promise.all(accesses.map((each) => each.token()));
      assert.notEqual(one, token);
      assert.equal(one, two);
    } finally {
      for (const window of windows) window.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  describe('a change by another process between the answer to a renewal and the store (X7e)', () => {
    let other: OAuth;
    let isOlderStored: boolean;

    afterEach(() => other.dispose());

    /** Begins the change by the other process when the renewal stores its answer. */
    async function renewedDuring(change: () => Promise<void>): Promise<void> {
      await signedIn();
      const { store, exclusively } = secrets;
      let waits: () => void = () => {};
      const isWaiting = new Promise<void>((resolve) => (waits = resolve));
      other = new OAuth({
        secrets: {
          get: (key) => secrets.get(key),
          store: (key, value) => store.call(secrets, key, value),
          delete: (key) => secrets.delete(key),
          onDidChange: () => ({ dispose: () => {} }),
          exclusively: (key, work) => {
            const done = exclusively.call(secrets, key, work);
            waits();
            return done as never;
          },
        },
        clock,
        log: { write: () => {} },
        keepSecret: () => ({ dispose: () => {} }),
        clientVersion: '9.9.9',
      });
      let changed: Promise<void> | undefined;
      isOlderStored = false;
      secrets.store = async (key, value) => {
        if (changed === undefined && !value.includes('isRenewing')) {
          changed = change();
          await Promise.race([changed, isWaiting]);
          isOlderStored = true;
        }
        await store.call(secrets, key, value);
      };
      await refused(token);
      assert(isOlderStored);
      await changed;
      await access.kept.reread();
    }

    it('A renewal does not bring back a sign-in that another process ended', async () => {
      await renewedDuring(() => other.signOut(http(server.url)));
      assert.equal(keptTokens(), false);
      assert.equal(await access.token(), undefined);
      assert.deepEqual([...server.refresh.keys()], [], 'revoked');
    });

    it('A renewal does not replace the sign-in of another process by its older answer', async () => {
      await renewedDuring(() => other.signIn(http(server.url), new Person(), person()));
      const [text = ''] = [...secrets.values.values()];
      const { grant } = parseKept(text);
      assert.equal(await access.token(), grant?.tokens.access_token);
      const newer = [...server.refresh.keys()].at(-1);
      assert.equal(grant?.tokens.refresh_token, newer, 'of the sign-in');
    });
  });

  describe('scopes that a call lacked', () => {
    const both = /for read write$/;

    it('a sign-in requests missing scopes and granted scopes, even after a renewal', async () => {
      await signedIn();
      await lacks(', scope="write"');
      assert.equal((await refused(token)).kind, 'renewed');
      assert.deepEqual(whatIsLacking(status()), ['signedIn', 'write']);
      await signIn();
      assert.match(authorized().at(-1) ?? '', both);
      assert.deepEqual(whatIsLacking(status()), ['signedIn', undefined]);
    });

    it('a sign-in requests missing scopes after an early renewal', async () => {
      await signedIn(600);
      await lacks(', scope="write"');
      clock.leap(590_000);
      assert.notEqual(await access.token(), token);
      await signIn();
      assert.match(authorized().at(-1) ?? '', both);
    });

    it('a sign-in requests every scope of the server if the refusal names none', async () => {
      await signedIn();
      const verdict = await lacks('');
      assert.match((verdict as { why: string }).why, /needs more rights: more than was granted\./);
      assert.deepEqual(whatIsLacking(status()), ['signedIn', 'more than was granted']);
      await signIn();
      assert.match(authorized().at(-1) ?? '', both);
    });

    it('scopes are no longer missing once another window has them', async () => {
      await signedIn();
      await lacks(', scope="write"');
      const [[key = '', text = ''] = []] = [...secrets.values];
      await secrets.store(
        key,
        text.replaceAll('"read"', '"read write"').replaceAll('access-', 'access-of-another-'),
      );
      await access.kept.reread();
      assert.deepEqual(whatIsLacking(status()), ['signedIn', undefined]);
      assert.deepEqual(await lacks(', scope="write"'), { kind: 'renewed' }, 'by the token before');
    });

    it('a sign-in for more scopes uses the metadata address of the first refusal', async () => {
      await signedIn(undefined, (made) => (made.metadataPath = '/elsewhere'));
      await lacks(', scope="write"');
      await signIn();
      assert.match(authorized().at(-1) ?? '', both);
      assert.equal(
        browser.shown.at(-1)?.searchParams.get('resource'),
        server.url,
        'which the metadata alone says',
      );
    });
  });
});
