/** The command line obeys the environment's proxies and certificates (X2, H1). */
import assert from 'node:assert/strict';
import path from 'node:path';
import { CommandLine } from '../../support/core/commandLine.js';
import { repository } from '../../support/core/bundles.js';
import { http } from '../../support/core/configText.js';
import { startHttpFixture } from '../../support/core/httpServers.js';
import { issuerOf } from '../../support/core/person.js';
import { startProxy } from '../../support/core/proxy.js';

describe('command line: network', function () {
  this.timeout(60_000);

  it('Requests use HTTP_PROXY, but not for hosts in NO_PROXY or for this machine', async () => {
    const server = await startHttpFixture('http', ['--tools', 'echo'], process.env);
    const proxy = await startProxy({ 'tools.test': new URL(server.url).host });
    const command = await CommandLine.open({
      far: http('http://tools.test/mcp'),
      near: http(server.url, { transform: [{ prefix: 'n_' }] }),
    });
    try {
      Object.assign(command.env, {
        HTTP_PROXY: proxy.url,
        http_proxy: proxy.url,
        NO_PROXY: 'other.test',
        no_proxy: 'other.test',
      });
      const { code, stdout } = await command.run('status');
      assert.equal(code, 0, stdout);
      assert.match(stdout, /far .*1 of 1 .*running/);
      assert(
        proxy.seen.length > 0 && proxy.seen.every((line) => line.includes('tools.test')),
        proxy.seen.join(),
      );
    } finally {
      await command.close();
      await proxy.close();
      await server.stop();
    }
  });

  it('Requests trust the certificates in NODE_EXTRA_CA_CERTS', async () => {
    const server = await startHttpFixture(
      'http',
      ['--tls', 'trusted', '--tools', 'echo'],
      process.env,
    );
    const command = await CommandLine.open({ far: http(server.url) });
    try {
      const { code, stdout } = await command.run('status');
      assert.equal(code, 1);
      assert.match(
        stdout,
        /not signed by an authority that this computer trusts.*NODE_EXTRA_CA_CERTS/,
      );
      command.env['NODE_EXTRA_CA_CERTS'] = path.join(
        repository,
        'test/fixtures/servers/shared/tls-ca.pem',
      );
      const trusted = await command.run('status');
      assert.equal(trusted.code, 0, trusted.stdout);
      assert.match(trusted.stdout, /far .*1 of 1 .*running/);
    } finally {
      await command.close();
      await server.stop();
    }
  });

  it('A required sign-in of a person is reported with exit code 1', async () => {
    const server = await startHttpFixture('oauth', [], process.env);
    const command = await CommandLine.open({ far: http(server.url) });
    try {
      const { code, stdout } = await command.run('status');
      assert.equal(code, 1);
      assert.match(
        stdout,
        /far .*needs sign-in: Nobody has signed in yet\. Run `mcp-toolsets login far`\./,
      );
      const checked = await command.run('check', '--start');
      assert.equal(checked.code, 1);
      assert.match(checked.stdout, /error sign-in-needed: "far" needs a sign-in/);
    } finally {
      await command.close();
      await server.stop();
    }
  });

  it('The command line signs in as a program if the file says so', async () => {
    const server = await startHttpFixture('oauth', [], process.env);
    const issuer = await issuerOf(server.url);
    const oauth = {
      grant: 'client_credentials',
      clientId: 'program',
      issuer,
      clientSecret: { env: 'PROGRAM_SECRET' },
    };
    const command = await CommandLine.open({ far: http(server.url, { oauth }) });
    try {
      command.env['PROGRAM_SECRET'] = 'secret-of-the-program';
      const { code, stdout } = await command.run('call', 'whoami');
      assert.deepEqual([code, stdout.trim()], [0, 'program files:read']);
    } finally {
      await command.close();
      await server.stop();
    }
  });
});
