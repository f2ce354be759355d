/**
 * Secrets of the command line (C2a), without a keyring and in a real Secret Service if the machine
 * can start one. Each run has a separate bus, so that the tester's keyring stays untouched.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { CommandLine, type Output } from '../../support/core/commandLine.js';
import { fixture } from '../../support/core/configText.js';
import { suiteNotHere } from '../../support/notHere.js';

const canary = 'canary-keyring-5ca1ab1e';
const hasService =
  process.platform === 'linux' &&
  ['dbus-run-session', 'gnome-keyring-daemon'].every(
    (name) => spawnSync(name, ['--version']).status === 0,
  );

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

  const secret = async (value: string, ...args: string[]): Promise<Output> => {
    const child = cli.begin('secret', ...args);
    child.stdin?.end(value);
    return await cli.finish(child);
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
    suiteNotHere(this, !hasService, 'dbus-run-session and gnome-keyring-daemon are not installed');

    it('Secrets are stored in a Secret Service, reach the server, are listed by name, and are deleted', async () => {
      const script = `
        echo -n unlock | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
        run() { "$NODE" "$CLI" "$@"; echo "code $?"; }
        echo "${canary}" | run secret set KEPT_TOKEN
        run secret list
        KEPT_TOKEN=of-environment run call env '{"name":"GIVEN"}'
        run secret delete KEPT_TOKEN
        run secret delete KEPT_TOKEN
        run secret list
        run check`;
      const { command, args, env } = cli.commandOf();
      const child = spawn('dbus-run-session', ['--', 'bash', '-c', script], {
        cwd: cli.folder,
        env: {
          ...env,
          NODE: command,
          CLI: args[0],
          XDG_RUNTIME_DIR: cli.home,
          DBUS_SESSION_BUS_ADDRESS: undefined,
        },
      });
      const { stdout, stderr } = await cli.finishBeside(child);
      const said = stdout.split(/^code /m).map((part) => part.trim());
      assert.match(said[0] ?? '', /^KEPT_TOKEN is kept/, stderr);
      assert.match(said[1] ?? '', /^0\nKEPT_TOKEN$/);
      assert.match(
        said[2] ?? '',
        new RegExp(`^0\\n${canary}!`),
        'the keyring goes before the environment',
      );
      assert.match(said[3] ?? '', /^0\nDeleted KEPT_TOKEN/);
      assert.match(said[4] ?? '', /^0$/);
      assert.match(stderr, /The keyring has no secret KEPT_TOKEN/);
      assert.match(said[5] ?? '', /^1\nNo secrets/);
      assert.match(said[6] ?? '', /secret-unset/);
    });
  });
});
