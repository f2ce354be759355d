/**
 * `login` and `logout` (X7e) at a real terminal, with the project's authorization server: with a
 * browser, over SSH, beside a running `serve` and an engine of `connect`.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import { textOf } from '../../support/core/answerText.js';
import { giveBrowser } from '../../support/core/browserProgram.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { http } from '../../support/core/configText.js';
import { startHttpFixture, type HttpServer } from '../../support/core/httpServers.js';
import { control, issuerOf, Person } from '../../support/core/person.js';
import { Serving } from '../../support/core/serving.js';
import { Terminal, terminalsMissing } from '../../support/core/terminal.js';
import { within } from '../../support/core/within.js';
import { suiteNotHere } from '../../support/notHere.js';

describe('login and logout on the command line (X7e)', function () {
  suiteNotHere(this, terminalsMissing.here, terminalsMissing.reason);
  let cli: CommandLine;
  let server: HttpServer;
  let terminal: Terminal | undefined;
  /** Everything that the commands printed. */
  let printed: string;

  beforeEach(async () => {
    printed = '';
    server = await startHttpFixture('oauth', [], process.env);
    cli = await CommandLine.open({ far: http(server.url) });
    mkdirSync(cli.home, { recursive: true });
    giveBrowser(cli);
    cli.env['DBUS_SESSION_BUS_ADDRESS'] = `unix:path=${path.join(cli.folder, 'no-bus')}`;
    cli.approveAll();
  });

  afterEach(async () => {
    await terminal?.close();
    terminal = undefined;
    await cli.close();
    await server.stop();
  });

  const file = (): string => path.join(cli.home, '.minds', 'sign-ins.json');

  async function run(...args: string[]) {
    const output = await cli.finishBeside(cli.begin(...args));
    printed += output.stdout + output.stderr;
    return output;
  }

  async function atTerminal(
    args: readonly string[],
    use: (shown: Terminal) => Promise<void> = () => Promise.resolve(),
  ): Promise<{ code: number | null; shown: string }> {
    const made = (terminal = new Terminal(cli.commandOf(...args), cli.folder, 200));
    await use(made);
    const code = await made.end();
    printed += made.shown;
    return { code, shown: made.shown };
  }

  /** The tokens of the file are nowhere else: in no output, no other file, no log. */
  function assertNoToken(): void {
    const text = readFileSync(file(), 'utf8');
    const found = [...text.matchAll(/\\"(?:access|refresh)_token\\":\\"([^"\\]+)/g)];
    assert.ok(found.length > 0, text);
    const files = readdirSync(path.dirname(cli.folder), { recursive: true, encoding: 'utf8' })
      .map((name) => path.join(path.dirname(cli.folder), name))
      .filter((name) => name !== file() && existsSync(name) && statSync(name).isFile());
    for (const [, token = ''] of found) {
      assert.ok(!printed.includes(token), 'printed');
      for (const name of files) assert.ok(!readFileSync(name, 'latin1').includes(token), name);
    }
  }

  it('A person signs in with a browser, every command uses it, and `logout` revokes it', async () => {
    const before = await run('status');
    assert.match(
      before.stdout,
      /needs sign-in: Nobody has signed in yet\. Run `mcp-toolsets login far`\./,
    );
    const { code, shown } = await atTerminal(['login', 'far']);
    assert.equal(code, 0, shown);
    assert.match(
      shown,
      /The keyring of the system cannot be used .*\. The sign-in will be stored unencrypted in .*sign-ins\.json, which only you can read/,
    );
    assert.match(shown, /You sign in to far at http:\S+\. The token goes to http:\S+/);
    assert.match(shown, /Signed in to far for files:read\./);
    assert.equal(statSync(file()).mode & 0o777, 0o600);
    assert.equal((await run('call', 'whoami')).stdout.trim(), 'ada files:read');
    assert.match((await run('status')).stdout, /running, signed in since 2\S+Z for files:read/);
    const { servers } = JSON.parse((await run('status', '--json')).stdout) as {
      servers: { signIn: { kind: string; since: number; scopes: string } }[];
    };
    assert.equal(servers[0]?.signIn.kind, 'signedIn');
    assert.equal(typeof servers[0].signIn.since, 'number');
    assert.equal(servers[0].signIn.scopes, 'files:read');
    await control(server.url, 'end-access');
    assert.equal(
      (await run('call', 'whoami', '--debug')).stdout.trim(),
      'ada files:read',
      'renewed',
    );
    assertNoToken();
    assert.match((await run('login')).stdout, /No server needs a sign-in/);
    assert.match((await run('logout', 'far')).stdout, /Signed out of far\./);
    assert.ok(((await control(server.url, 'seen')) as string[]).includes('POST /token/revocation'));
    assert.doesNotMatch(readFileSync(file(), 'utf8'), /access_token/);
    assert.match((await run('call', 'whoami')).stderr, /mcp-toolsets login far/);
  });

  it('Over SSH, the person pastes the address at the end, and only that of this sign-in counts', async () => {
    cli.env['SSH_CONNECTION'] = '1.2.3.4 5 6.7.8.9 22';
    let back = '';
    const { code, shown } = await atTerminal(['login'], async (made) => {
      await made.until(/Paste this address \(it is not shown\): $/);
      const [, address = ''] = /^(http:\S+\/auth\S+)\r?$/m.exec(made.shown) ?? [];
      const person = new Person();
      person.stopsBefore = '/callback';
      await person.show(new URL(address));
      back = person.stopped;
      made.type(`${back.replace(/state=[^&]+/, 'state=another')}\n`);
      await made.until(/This is not the address at the end of this sign-in\.\s+Paste [^\n]*: $/);
      const foreign = new URL(back);
      foreign.searchParams.set('iss', 'https://evil.example');
      made.type(`${foreign.href}\n`);
      await made.until(/The browser returned an answer that is not from/);
    });
    assert.equal(code, 1, shown);
    const [, sent = ''] = /code=([^&]+)/.exec(back) ?? [];
    assert.ok(sent !== '' && !shown.includes(sent), 'what was pasted is not shown');
    const again = await atTerminal(['login', 'far', '--no-browser'], async (made) => {
      await made.until(/Paste this address \(it is not shown\): $/);
      const [, address = ''] = /^(http:\S+\/auth\S+)\r?$/m.exec(made.shown) ?? [];
      const person = new Person();
      person.stopsBefore = '/callback';
      await person.show(new URL(address));
      made.type(`\u001b[200~${person.stopped}\u001b[201~\n`);
    });
    assert.equal(again.code, 0, again.shown);
    assert.equal((await run('call', 'whoami')).stdout.trim(), 'ada files:read');
    assertNoToken();
  });

  it('A running `serve` takes a sign-in at once, and loses its connection with a sign-out', async () => {
    const serving = await Serving.begin(cli, []);
    try {
      await serving.until(/sign-in-needed/);
      await run('login', 'far');
      await serving.until('far  http');
      const client = await serving.connect('far');
      const call = async (tool: string): Promise<string> =>
        textOf(await client.callTool({ name: tool, arguments: {} }));
      assert.equal(await call('whoami'), 'ada files:read');
      await assert.rejects(
        call('write'),
        /needs more rights: files:write\. .*mcp-toolsets login far/,
      );
      const more = await run('login', 'far');
      assert.equal(more.code, 0, more.stderr);
      assert.match(more.stderr, /Signed in to far for .*files:write/);
      assert.equal(await call('write'), 'written');
      await control(server.url, 'hold');
      const held = call('whoami');
      await control(server.url, 'held');
      await run('logout', 'far');
      assert.match(await held, /result unknown[^]*a person signed out/);
      await serving.until(/sign-in-needed: "far" needs a sign-in\. The sign-in has ended/);
      assert.match(await call('whoami'), /mcp-toolsets login far/);
    } finally {
      await serving.end();
    }
  });

  it('An engine behind `connect` takes a sign-in and a sign-out, and a cassette of it holds no token', async () => {
    const cassette = path.join(cli.folder, 'calls.jsonl');
    const { command, args } = cli.commandOf('connect', 'far');
    const recorded = cli.commandOf('record', cassette, '--', command, ...args);
    const client = new Client({ name: 'independent', version: '1' });
    const changed = new Emitter<void>();
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.fire());
    const call = async (): Promise<string> =>
      textOf(await client.callTool({ name: 'whoami', arguments: {} }));
    try {
      await client.connect(
        new StdioClientTransport({
          command: recorded.command,
          args: recorded.args,
          cwd: cli.folder,
          env: recorded.env as Record<string, string>,
        }),
      );
      assert.deepEqual((await client.listTools()).tools, []);
      const offered = nextEvent(changed.event, () => true);
      await run('login', 'far');
      await within(offered, 'the tools of the server');
      assert.equal(await call(), 'ada files:read');
      assertNoToken();
      await control(server.url, 'end-access');
      assert.equal(await call(), 'ada files:read', 'renewed');
      assertNoToken();
      await run('logout', 'far');
      const first = await call();
      // The end of the connection may overtake it, as for a call that is held.
      const after = first.includes('a person signed out') ? await call() : first;
      assert.match(after, /mcp-toolsets login far/);
      assert.match(readFileSync(cassette, 'utf8'), /ada files:read/);
    } finally {
      await client.close();
      await cli.stopEngines();
    }
  });

  it('A server without approval gets no sign-in, and the person is asked first', async () => {
    cli.save({ far: http(server.url), other: http(`${server.url}?other`) });
    const refused = await run('login', 'other');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /other waits for approval/);
    assert.ok(!existsSync(file()), 'nobody signed in');
    const { code, shown } = await atTerminal(['login', 'other'], async (made) => {
      await made.until(/Let "other" start\? \[y\]es, \[N\]o: $/);
      made.type('y\n');
    });
    assert.equal(code, 0, shown);
    assert.match(shown, /Signed in to other/);
    assert.doesNotMatch(shown, /Signed in to far/);
  });

  it('`logout` ends a sign-in also if the authorization server fails, and says that nothing is revoked', async () => {
    await run('login', 'far');
    await control(server.url, 'close');
    const { stdout, stderr } = await run('logout', 'far');
    assert.equal(stdout, 'Signed out of far.\n', stderr);
    assert.match(stderr, /The tokens were deleted here, but not revoked: .*HTTP 503/);
    assert.doesNotMatch(readFileSync(file(), 'utf8'), /access_token/);
  });

  it('No browser opens for a server where a program signs in', async () => {
    const oauth = {
      grant: 'client_credentials',
      clientId: 'program',
      clientSecret: { secret: 'OF_PROGRAM' },
      issuer: await issuerOf(server.url),
    };
    cli.save({ far: http(server.url, { oauth }) });
    cli.env['OF_PROGRAM'] = 'wrong';
    cli.approveAll();
    const refused = await run('login', 'far');
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /sign-in-needed: .*a program signs in/);
    assert.doesNotMatch(refused.stderr, /Your browser opens/);
    assert.match((await run('login')).stdout, /No server needs a sign-in/);
    cli.env['OF_PROGRAM'] = 'secret-of-the-program';
    assert.match((await run('login', 'far')).stdout, /far needs no sign-in/);
  });

  it('A file of sign-ins that others can read is not used, and the message says how to mend it', async () => {
    await run('login', 'far');
    chmodSync(file(), 0o644);
    const { stdout } = await run('status');
    assert.match(stdout, /needs sign-in: .*others may read .*`chmod 600 /);
    const { code, stderr } = await run('login', 'far');
    assert.deepEqual([code, /others may read/.test(stderr)], [1, true], stderr);
    const out = await run('logout', 'far');
    assert.deepEqual([out.code, out.stdout], [1, ''], 'the tokens are still in it');
    assert.match(out.stderr, /Signing out of "far" failed: .*others may read/);
    chmodSync(file(), 0o600);
    assert.equal((await run('call', 'whoami')).stdout.trim(), 'ada files:read');
  });
});
