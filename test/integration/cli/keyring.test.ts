/**
 * Secrets (C2a) and sign-ins (X7e) of the command line, without a keyring and in a real Secret
 * Service if the machine can start one.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { textOf } from '../../support/core/answerText.js';
import { giveBrowser } from '../../support/core/browserProgram.js';
import { CommandLine, type Output } from '../../support/core/commandLine.js';
import { fixture, http } from '../../support/core/configText.js';
import { startHttpFixture, type HttpServer } from '../../support/core/httpServers.js';
import { control } from '../../support/core/person.js';
import { SecretService, secretServiceMissing } from '../../support/core/secretService.js';
import { within } from '../../support/core/within.js';
import { suiteNotHere } from '../../support/notHere.js';

const canary = 'canary-keyring-5ca1ab1e';

describe('secrets of the command line', () => {
  let cli: CommandLine;

  beforeEach(async () => {
    cli = await CommandLine.open({
      a: fixture('raw', [], { env: { GIVEN: { secret: 'KEPT_TOKEN', suffix: '!' } } }),
    });
    mkdirSync(cli.home, { recursive: true });
    cli.env['DBUS_SESSION_BUS_ADDRESS'] = `unix:path=${path.join(cli.folder, 'no-bus')}`;
  });

  afterEach(() => cli.close());

  // A Secret Service and its bus are processes of the test too.
  const run = (...args: string[]): Promise<Output> => cli.finishBeside(cli.begin(...args));

  const secret = async (value: string, ...args: string[]): Promise<Output> => {
    const child = cli.begin('secret', ...args);
    child.stdin?.end(value);
    return await cli.finishBeside(child);
  };

  describe('without a keyring', function () {
    suiteNotHere(this, process.platform !== 'linux', 'only Linux may have no keyring');

    it('Without a keyring secrets are not stored, and the message names an alternative', async () => {
      const { code, stdout, stderr } = await secret(canary, 'set', 'KEPT_TOKEN');
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr,
        /keyring of the system cannot be used .*Set the environment variable KEPT_TOKEN instead/,
      );
      assert.doesNotMatch(stderr, /canary/);
      assert.equal((await secret('', 'list')).code, 1);
    });

    it('Without a keyring secrets are environment variables', async () => {
      const { code, stdout } = await cli.run('check');
      assert.equal(code, 1);
      assert.match(stdout, /secret-unset.*mcp-toolsets secret set KEPT_TOKEN/s);
      cli.env['KEPT_TOKEN'] = canary;
      const called = await cli.run('call', 'env', '{"name":"GIVEN"}');
      assert.match(called.stdout, new RegExp(`${canary}!`));
    });
  });

  it('Secrets are never taken from the arguments', async () => {
    for (const args of [
      ['set', 'KEPT_TOKEN', canary],
      ['set'],
      ['set', 'not a name'],
      ['show', 'A'],
      [],
    ]) {
      const { code, stdout } = await secret('x', ...args);
      assert.deepEqual([code, stdout], [2, '']);
    }
    assert.match((await secret('', 'set', 'KEPT_TOKEN')).stderr, /the value is empty/);
  });

  describe('in a Secret Service', function () {
    suiteNotHere(this, secretServiceMissing.here, secretServiceMissing.reason);
    let service: SecretService;

    beforeEach(async () => {
      service = await SecretService.open(cli);
    });

    afterEach(() => service.close());

    it('Secrets are stored in a Secret Service, reach the server, are listed by name, and are deleted', async () => {
      const stored = await secret(canary, 'set', 'KEPT_TOKEN');
      assert.match(stored.stdout, /^Stored KEPT_TOKEN/, stored.stderr);
      assert.equal((await secret('', 'list')).stdout, 'KEPT_TOKEN\n');
      cli.env['KEPT_TOKEN'] = 'of-environment';
      const called = await run('call', 'env', '{"name":"GIVEN"}');
      assert.match(called.stdout, new RegExp(`^${canary}!`), called.stderr);
      delete cli.env['KEPT_TOKEN'];
      assert.match((await secret('', 'delete', 'KEPT_TOKEN')).stdout, /^Deleted KEPT_TOKEN/);
      const again = await secret('', 'delete', 'KEPT_TOKEN');
      assert.equal(again.code, 1);
      assert.match(again.stderr, /The keyring has no secret KEPT_TOKEN/);
      assert.match((await secret('', 'list')).stdout, /^No secrets/);
      assert.match((await run('check')).stdout, /secret-unset/);
    });

    describe('sign-ins (X7e)', () => {
      let server: HttpServer;

      beforeEach(async () => {
        server = await startHttpFixture('oauth', [], process.env);
        cli.save({ far: http(server.url) });
        cli.approveAll();
        giveBrowser(cli);
      });

      afterEach(() => server.stop());

      const file = (): string =>
        readFileSync(path.join(cli.home, '.minds', 'sign-ins.json'), 'utf8');

      async function login(): Promise<void> {
        const { code, stderr } = await cli.finishBeside(cli.begin('login', 'far'));
        assert.equal(code, 0, stderr);
        assert.doesNotMatch(stderr, /keyring/);
      }

      it('A key in the keyring seals a sign-in, other processes open and renew it, and `logout` revokes it', async () => {
        await login();
        const sealed = file();
        assert.match(sealed, /"sealed": "/);
        assert.doesNotMatch(sealed, /plain|token|files|127/);
        assert.equal((await run('call', 'whoami')).stdout, 'ada files:read\n');
        await control(server.url, 'end-access');
        const client = new Client({ name: 'independent', version: '1' });
        const { command, args, env } = cli.commandOf('connect', 'far');
        try {
          await client.connect(
            new StdioClientTransport({
              command,
              args,
              cwd: cli.folder,
              env: env as Record<string, string>,
            }),
          );
          const answer = await client.callTool({ name: 'whoami', arguments: {} });
          assert.equal(textOf(answer), 'ada files:read');
        } finally {
          await client.close();
          await cli.stopEngines();
        }
        assert.match(file(), /"sealed": "/);
        assert.notEqual(file(), sealed, 'renewed');
        const { stdout, stderr } = await run('logout', 'far');
        assert.deepEqual([stdout, stderr], ['Signed out of far.\n', '']);
        const seen = (await control(server.url, 'seen')) as string[];
        assert.ok(seen.includes('POST /token/revocation'));
        assert.match((await run('status')).stdout, /Nobody has signed in yet/);
        await login();
        assert.equal((await run('call', 'whoami')).stdout, 'ada files:read\n');
      });

      it('If the keyring asks the person and gets no answer, every command ends and says so', async () => {
        await login();
        service.lock();
        const { code, stdout } = await run('status');
        assert.equal(code, 1);
        assert.match(
          stdout,
          /The store of sign-ins did not answer\. It may wait for you to unlock it/,
        );
        assert.ok(service.hasAsked);
        const child = cli.begin('login', 'far');
        let said = '';
        const noted = new Promise<void>((resolve) =>
          child.stderr?.on('data', (chunk) => {
            said += String(chunk);
            if (/keyring of the system waits for your answer/.test(said)) resolve();
          }),
        );
        const ended = cli.finishBeside(child);
        await within(noted, 'the note', () => said);
        child.kill('SIGINT');
        assert.equal((await ended).code, 130);
        assert.match(file(), /"sealed": "/);
        const out = await run('logout', 'far');
        assert.equal(out.stdout, 'Signed out of far.\n');
        assert.match(
          out.stderr,
          /deleted here, but not revoked: The store of sign-ins did not answer/,
        );
        assert.doesNotMatch(file(), /sealed/);
      });
    });
  });
});
