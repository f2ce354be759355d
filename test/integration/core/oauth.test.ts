/** Sign-in behind the host (X7): its states in the views, and the server after a sign-in. */
import assert from 'node:assert/strict';
import { http, type Entry } from '../../support/core/configText.js';
import { control, issuerOf, Person, Secrets } from '../../support/core/person.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';
import { freePort } from '../../support/freePort.js';

describe('core: servers that want a sign-in', () => {
  let stage: Stage;
  let browser: Person;
  const signal = (): AbortSignal => new AbortController().signal;

  beforeEach(async () => {
    stage = await startStage({ trace: true, secrets: new Secrets() });
    browser = new Person();
  });
  afterEach(endStages);

  const signIn = (server: string): Promise<void> => stage.host.signIn(server, browser, signal());

  it('A server needs sign-in, publishes after it, and publishes nothing after sign-out', async () => {
    const { url } = await stage.http('oauth');
    await stage.edit({ far: http(url) });
    const { state, signIn: before } = stage.server('far');
    assert.deepEqual(state, {
      kind: 'signInNeeded',
      since: 'since' in state && state.since,
      why: 'Nobody has signed in yet.',
    });
    assert.equal(before?.kind, 'needed');
    assert.deepEqual(stage.problems(), ['sign-in-needed "far"']);
    assert.match(stage.problem('sign-in-needed').fix, /Sign In to Server/);
    assert.deepEqual(browser.shown, []);

    await signIn('far');
    assert.deepEqual(stage.published(), ['far/whoami', 'far/write']);
    assert.equal(stage.server('far').state.kind, 'running');
    assert.deepEqual(stage.problems(), []);
    assert.equal(await stage.text('far', 'whoami'), 'ada files:read');

    await stage.host.signOut('far');
    await stage.untilState('far', 'signInNeeded');
    assert.deepEqual(stage.published(), []);
    assert.deepEqual(stage.problems(), ['sign-in-needed "far"']);

    await signIn('far');
    assert.deepEqual(stage.published(), ['far/whoami', 'far/write']);
  });

  it('A program signs in with its secret, a person at the registered port, and no view shows the secret', async () => {
    const redirectPort = await freePort();
    const { url } = await stage.http(
      'oauth',
      '--no-registration',
      '--redirect-port',
      `${redirectPort}`,
    );
    stage.env['PROGRAM_SECRET'] = 'secret-of-the-program';
    const clientSecret = { env: 'PROGRAM_SECRET' };
    const issuer = await issuerOf(url);
    const program = { grant: 'client_credentials', clientId: 'program', issuer, clientSecret };
    await stage.edit({ far: http(url, { oauth: program }) });
    assert.deepEqual(stage.problems(), []);
    assert.equal(await stage.text('far', 'whoami'), 'program files:read');
    assert.deepEqual(browser.shown, []);
    stage.env['PROGRAM_SECRET'] = 'another-secret-of-it';
    await stage.edit({ far: http(url, { oauth: { ...program, clientId: 'stranger' } }) });
    assert.match(
      stage.problem('sign-in-needed').message,
      /gave no token to stranger: invalid_client/,
    );
    assert.deepEqual(stage.published(), ['far/whoami', 'far/write'], 'what served goes on');
    const known = { clientId: 'known', redirectPort, scopes: ['files:write'] };
    await stage.edit({ far: http(url, { oauth: known }) });
    await signIn('far');
    assert.equal(await stage.text('far', 'whoami'), 'ada files:write');
    const seen = `${stage.logs.text()}\n${JSON.stringify(stage.host.snapshot)}`;
    for (const secret of ['secret-of-the-program', 'another-secret-of-it'])
      assert.ok(!seen.includes(secret), secret);
  });

  it('A program prints the client secret at each start, and a failure is reported at its place', async () => {
    const { url } = await stage.http('oauth', '--no-registration');
    const oauthWith = async (...script: string[]): Promise<Entry> => ({
      grant: 'client_credentials',
      clientId: 'program',
      issuer: await issuerOf(url),
      clientSecret: { command: [process.execPath, '-e', ...script] } as unknown as string,
    });
    // No argument contains the secret, so any secret found was printed.
    const printing = "console.log(['secret', 'of', 'the', 'program'].join('-'))";
    await stage.edit({ far: http(url, { oauth: await oauthWith(printing) }) });
    assert.deepEqual(stage.problems(), []);
    assert.equal(await stage.text('far', 'whoami'), 'program files:read');
    const seen = `${stage.logs.text()}\n${JSON.stringify(stage.host.snapshot)}`;
    assert.ok(!seen.includes('secret-of-the-program'));

    await stage.edit({ far: http(url, { oauth: await oauthWith('process.exit(3)') }) });
    assert.match(stage.problem('value-command-failed').message, /3/);
    assert.deepEqual(stage.published(), ['far/whoami', 'far/write'], 'what served goes on');
  });

  it('An expired sign-in keeps the tools, the call says why, and works after the next sign-in', async () => {
    const { url } = await stage.http('oauth');
    await stage.edit({ far: http(url, { 'truely-stateless': true }) });
    await signIn('far');
    await control(url, 'end-all');
    const outcome = await stage.outcome('far', 'whoami');
    assert.match(JSON.stringify(outcome), /needs a sign-in\. The sign-in has ended/);
    await stage.untilState('far', 'signInNeeded');
    assert.deepEqual(stage.published(), ['far/whoami', 'far/write']);
    await signIn('far');
    assert.equal(await stage.text('far', 'whoami'), 'ada files:read');
    await stage.until(({ problems }) => problems.length === 0, 'no problem');
  });

  it('A new conversation whose instance needs a sign-in says so, and nothing is retried', async () => {
    const { url } = await stage.http('oauth');
    await stage.edit({ far: http(url) });
    await signIn('far');
    await control(url, 'end-all');
    await stage.outcome('far', 'whoami', {}, { conversation: 'first' });
    assert.match(
      await stage.failure('far', 'whoami', {}, { conversation: 'second' }),
      /needs a sign-in/,
    );
    await stage.untilState('far', 'signInNeeded');
    await signIn('far');
    assert.equal(
      await stage.text('far', 'whoami', {}, { conversation: 'second' }),
      'ada files:read',
    );
    await stage.until(({ problems }) => problems.length === 0, 'no problem');
    assert.equal(stage.server('far').state.kind, 'running');
  });

  it('Missing rights for a call are a warning, and the server runs on', async () => {
    const { url } = await stage.http('oauth');
    await stage.edit({ far: http(url) });
    await signIn('far');
    assert.match(
      JSON.stringify(await stage.outcome('far', 'write')),
      /needs more rights: files:write/,
    );
    await stage.until(({ problems }) => problems.length > 0, 'a problem');
    assert.deepEqual(
      [stage.problem('sign-in-needed').severity, stage.server('far').state.kind],
      ['warning', 'running'],
    );
    assert.equal(await stage.text('far', 'whoami'), 'ada files:read');
    await signIn('far');
    assert.equal(await stage.text('far', 'write'), 'written');
    assert.deepEqual(stage.problems(), []);
  });

  it('One sign-in starts all servers of one address except those stopped by a person', async () => {
    const { url } = await stage.http('oauth');
    const more = (prefix: string) => http(url, { transform: [{ prefix }] });
    await stage.edit({ a: more('a_'), b: more('b_'), c: more('c_') });
    await stage.host.stop('c');
    await signIn('a');
    await stage.untilState('b', 'running');
    assert.deepEqual(stage.published(), ['a/a_whoami', 'a/a_write', 'b/b_whoami', 'b/b_write']);
    assert.equal(stage.server('c').state.kind, 'stopped');
    assert.equal(browser.shown.length, 1);
  });

  it('A failed sign-in leaves the server unchanged and says why', async () => {
    const { url } = await stage.http('oauth');
    await stage.edit({ far: http(url) });
    await control(url, 'deny');
    await assert.rejects(signIn('far'), /The sign-in was refused/);
    assert.equal(stage.server('far').state.kind, 'signInNeeded');
    await assert.rejects(signIn('nobody'), /no server "nobody"/);
  });
});
