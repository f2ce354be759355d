/** The file that entries of other agents start (G6): it finds the command line after an update, and passes arguments on. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { homeLauncher } from '../../../src/core/agents/agents.js';
import { writeLauncher } from '../../../src/core/files/launcherFile.js';

describe('the launcher of other agents (G6)', () => {
  let home: string;
  let versions: string;

  beforeEach(() => {
    home = realpathSync(mkdtempSync(path.join(tmpdir(), 'launcher-')));
    versions = path.join(home, 'extensions');
  });

  afterEach(() => rmSync(home, { recursive: true }));

  /** Makes a command line that prints its arguments. */
  function cliOf(version: string): string {
    const cli = path.join(versions, `minds.mcp-toolsets-${version}`, 'dist', 'cli.js');
    mkdirSync(path.dirname(cli), { recursive: true });
    writeFileSync(cli, `console.log(${JSON.stringify(version)}, ...process.argv.slice(2));`);
    return cli;
  }

  const env = (): NodeJS.ProcessEnv => ({ ...process.env, HOME: home, USERPROFILE: home });
  const run = (args: readonly string[]): string =>
    execFileSync(process.execPath, [...args, 'connect', 'a b'], { env: env(), encoding: 'utf8' }).trim();
  const file = (): string => path.join(home, '.minds', 'bin', 'mcp-toolsets.js');

  it('an entry and a person start the command line with their arguments', async () => {
    await writeLauncher(home, cliOf('1.0.0'));
    assert.equal(run(homeLauncher.args), '1.0.0 connect a b');
    assert.equal(run([file()]), '1.0.0 connect a b');
    assert.deepEqual(readdirSync(path.dirname(file())), ['mcp-toolsets.js']);
  });

  it('after an update, it starts the version in the next folder, also before the extension has run', async () => {
    const cli = cliOf('1.0.0');
    await writeLauncher(home, cli);
    cliOf('1.1.0');
    writeFileSync(path.join(versions, 'other.mcp-toolsets-9.0.0'), '');
    rmSync(path.dirname(path.dirname(cli)), { recursive: true });
    assert.equal(run(homeLauncher.args), '1.1.0 connect a b');
  });

  it('without any version, it says so and fails', async () => {
    await writeLauncher(home, cliOf('1.0.0'));
    renameSync(versions, `${versions}.gone`);
    const { status, stdout, stderr } = spawnSync(process.execPath, [...homeLauncher.args, 'connect'], {
      env: env(),
      encoding: 'utf8',
    });
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /no longer in .*mcp-toolsets-1\.0\.0\. Install the extension/);
  });

  it('the file is written only if its text differs', async () => {
    const cli = cliOf('1.0.0');
    await writeLauncher(home, cli);
    const { ino } = statSync(file());
    await writeLauncher(home, cli);
    assert.equal(statSync(file()).ino, ino);
    await writeLauncher(home, cliOf('1.1.0'));
    assert.notEqual(statSync(file()).ino, ino);
  });
});
