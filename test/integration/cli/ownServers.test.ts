/**
 * Servers of the user's own `~/.minds/mcp.yaml` beside a hostile workspace (S1c). A planted program
 * and a planted registry count only if a person let a server run in the workspace. Processes and
 * npm are real.
 */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandLine } from '../../support/core/commandLine.js';
import { fixturePath } from '../../support/core/bundles.js';
import { configText, type Entry, type Servers } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';

const evil = 'http://127.0.0.1:9/evil/';

describe('servers of the user’s own file (S1c)', () => {
  let cli: CommandLine;
  let home: string;
  const ran = (): boolean => existsSync(path.join(home, 'planted-ran'));

  beforeEach(async () => {
    cli = await CommandLine.open();
    home = realpathSync(mkdtempSync(path.join(tmpdir(), 'own-servers-')));
    cli.useHome(home);
    const bin = path.join(cli.folder, 'node_modules', '.bin');
    mkdirSync(bin, { recursive: true });
    const program = path.join(bin, 'planted.mjs');
    writeFileSync(
      program,
      `import { writeFileSync } from 'node:fs';
       writeFileSync(${JSON.stringify(path.join(home, 'planted-ran'))}, '');
       process.argv.push('--tools', 'echo');
       await import(${JSON.stringify(pathToFileURL(fixturePath('raw')))});`,
    );
    writeFileSync(
      path.join(bin, 'planted'),
      `#!/bin/sh\nexec '${process.execPath}' '${program}'\n`,
      { mode: 0o755 },
    );
    writeFileSync(path.join(bin, 'planted.cmd'), `@"${process.execPath}" "${program}"\r\n`);
    writeFileSync(path.join(cli.folder, '.npmrc'), `registry=${evil}\n`);
    mkdirSync(path.join(home, '.minds'));
  });

  afterEach(async () => {
    await cli.close();
    rmSync(home, { recursive: true });
  });

  const own = (servers: Servers): void =>
    writeFileSync(path.join(home, '.minds', 'mcp.yaml'), configText(servers));
  const npx = (args: string[], rest: Entry = {}): Entry => ({
    transport: 'stdio',
    command: 'npx',
    args: ['--offline', '--no-update-notifier', ...args],
    ...rest,
  });
  /** Reports a variable from the configuration of npm. */
  const reporter = (rest: Entry = {}): Entry =>
    npx(['-c', `node "${fixturePath('raw')}" --tools env,cwd`], rest);

  it('Own servers run in the home folder, so planted files of the workspace have no effect', async () => {
    own({ a: npx(['--no', 'planted']), b: reporter() });
    const { code, stdout } = await cli.run('status', '--json');
    assert.equal(code, 1);
    const { servers } = JSON.parse(stdout) as {
      servers: { id: string; state: { kind: string } }[];
    };
    assert.deepEqual(
      servers.map(({ id, state }) => [id, state.kind]),
      [
        ['a', 'failed'],
        ['b', 'running'],
      ],
    );
    assert.ok(!ran());
    assert.equal((await cli.run('call', 'cwd')).stdout.split('\n')[0], home);
    const registry = await cli.run('call', 'env', '{"name":"npm_config_registry"}');
    assert.doesNotMatch(registry.stdout, /evil/);
  });

  it('Own servers run their value commands in the home folder too, also HTTP servers (C2c)', async () => {
    const where = path.join(home, 'where');
    const script = `
      require('node:fs').writeFileSync(${JSON.stringify(where)}, process.cwd());
      require('node:child_process').spawnSync('npx --offline --no-update-notifier --no planted', { shell: true });
      console.log('value');`;
    const url = 'http://127.0.0.1:9/mcp';
    own({
      a: {
        transport: 'streamable_http',
        url,
        headers: { A: { command: [process.execPath, '-e', script] } },
      },
    });
    await cli.run('status');
    assert.equal(readFileSync(where, 'utf8'), home);
    assert.ok(!ran());
  });

  it('Own servers in the workspace wait in every command until the person approves their folder', async () => {
    own({ a: npx(['--no', 'planted'], { cwd: cli.folder }), b: reporter({ cwd: cli.folder }) });
    const said =
      /^a, b wait for approval\. Run `mcp-toolsets approve a b`, or approve them in the editor\. --approve/m;
    for (const [command, ...args] of [
      ['status'],
      ['tools'],
      ['check', '--start'],
      ['resources'],
      ['prompts'],
      ['read', 'file:///x'],
      ['prompt', 'x'],
      ['call', 'echo', '{"text":"x"}'],
    ] as const) {
      const { code, stderr } = await cli.run(command, ...args);
      assert.match(stderr, said, command);
      assert.equal(code, 1, command);
    }
    assert.ok(!ran());
    const called = await cli.run('call', 'echo', '{"text":"hello"}', '--approve');
    assert.match(called.stdout, /hello/);
    assert.ok(ran());
    const approved = await cli.run('approve', '--yes', 'b');
    assert.match(approved.stdout, /Approved: b\./);
    const registry = await cli.run('call', 'env', '{"name":"npm_config_registry"}');
    assert.match(registry.stdout, /evil/, 'it is what the approval lets count');
  });

  it('Own servers wait in `serve` too, at its start and after an edit', async () => {
    own({ a: npx(['--no', 'planted'], { cwd: path.join(cli.folder, 'node_modules') }) });
    const serving = await Serving.begin(cli, ['mcp_admin']);
    try {
      await serving.until(/^a waits for approval\./m);
      own({ b: reporter(), c: npx(['--no', 'planted'], { cwd: cli.folder }) });
      await serving.until(/^c waits for approval\./m);
      await serving.until(/^b {2}http/m);
    } finally {
      await serving.end();
    }
    assert.ok(!ran());
  });
});
