/**
 * Programs of the workspace (S1n), and what npm adds to the environment (X1b), through the command
 * line.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ApprovalStage } from '../../support/core/approvalStage.js';
import type { CommandLine } from '../../support/core/commandLine.js';
import { configText, type Entry } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';
import { suiteNotHere } from '../../support/notHere.js';

describe('programs of the workspace', function () {
  suiteNotHere(this, process.platform === 'win32', 'programs are shell scripts here');
  let stage: ApprovalStage;
  let cli: CommandLine;
  let folder: string;
  let inside: string;
  let outside: string;
  /** The PATH of the person. */
  let system: string;

  beforeEach(async () => {
    stage = await ApprovalStage.open();
    ({ cli } = stage);
    system = cli.env['PATH'] ?? '';
    folder = realpathSync(cli.folder);
    inside = path.join(folder, 'node_modules', '.bin');
    outside = path.join(stage.outside, 'bin');
    for (const each of [inside, outside]) mkdirSync(each, { recursive: true });
    cli.env['PATH'] = [inside, outside, system].join(':');
  });

  afterEach(() => stage.close());

  /** Makes a server that leaves its mark. */
  function program(where: string, mark: string, name = 'mytool'): string {
    const file = path.join(where, name);
    const server = path.join(stage.outside, 'server.mjs');
    writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${server}' ${mark}\n`, {
      mode: 0o755,
    });
    return file;
  }

  const entry = (rest: Entry = {}): Entry => ({ transport: 'stdio', command: 'mytool', ...rest });
  const writeOwn = (servers: Record<string, Entry>): void => {
    mkdirSync(path.join(cli.home, '.minds'), { recursive: true });
    writeFileSync(path.join(cli.home, '.minds', 'mcp.yaml'), configText(servers));
  };

  it('A program that a pull puts before the approved one waits, and the review shows its path (S1n)', async () => {
    program(outside, 'person');
    cli.save({ a: entry() });
    await stage.approve();
    assert.deepEqual([await stage.namesFor('a'), stage.ran], [['echo'], ['person']]);
    stage.forgetRuns();
    const planted = program(inside, 'planted');
    assert.deepEqual([await stage.namesFor('a'), stage.ran], [[], []]);
    const { stdout } = await cli.run('approve', '--yes');
    assert.match(
      stdout.replace(/\s*\n[+ ]\s*…\s*/g, ''),
      new RegExp(`program +${planted.replaceAll('.', '\\.')}`),
    );
    assert.deepEqual([await stage.namesFor('a'), stage.ran], [['echo'], ['planted']]);
    stage.forgetRuns();
    rmSync(planted);
    assert.deepEqual(
      [await stage.namesFor('a'), stage.ran],
      [['echo'], ['person']],
      'the first approval still counts',
    );
  });

  it('An interpreter that a pull puts before the approved one waits (S1n)', async () => {
    const file = program(outside, 'person');
    writeFileSync(
      file,
      `#!/usr/bin/env node\nimport(${JSON.stringify(path.join(stage.outside, 'server.mjs'))})`,
    );
    cli.save({ a: entry() });
    await stage.approve();
    program(inside, 'planted', 'node');
    assert.deepEqual([await stage.namesFor('a'), stage.ran], [[], []]);
  });

  it('While `serve` runs, a program that appears does not start, and a restart by a person asks (S1n)', async () => {
    program(outside, 'person');
    cli.save({ a: entry() });
    await stage.approve();
    const serving = await Serving.begin(cli, ['a', 'mcp_admin']);
    try {
      assert.deepEqual(stage.ran, ['person']);
      stage.forgetRuns();
      program(inside, 'planted');
      const client = await serving.connect('mcp_admin');
      await client.callTool({ name: 'mcp_restart', arguments: { serverId: 'a' } });
      await serving.until(/program-changed|another program when its approval was checked/);
      await client.callTool({ name: 'mcp_restart', arguments: { serverId: 'a' } });
      await serving.until(/a waits for approval/);
      assert.deepEqual(stage.ran, []);
    } finally {
      await serving.end();
    }
  });

  it('Worktrees share the approval of a program at the same place (S1k)', async () => {
    const git = (...args: string[]): void => {
      const who = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com'];
      const env = { ...process.env, HOME: cli.home, GIT_CONFIG_NOSYSTEM: '1' };
      execFileSync('git', [...who, ...args], { cwd: folder, env });
    };
    program(inside, 'own');
    cli.save({ a: entry() });
    git('init', '--quiet');
    git('add', '--force', '.');
    git('commit', '--quiet', '--message', 'all');
    const tree = path.join(stage.outside, 'tree');
    git('worktree', 'add', '--quiet', '-b', 'tree', tree);
    await stage.approve();
    assert.deepEqual(await stage.namesFor('a'), ['echo']);
    cli.env['PATH'] = [path.join(tree, 'node_modules', '.bin'), system].join(':');
    assert.deepEqual(await stage.namesFor('a', '-C', tree), ['echo']);
    cli.env['PATH'] = [inside, system].join(':');
    assert.deepEqual(await stage.namesFor('a', '-C', tree), [], 'the program of another folder');
  });

  it('The person’s own servers and value programs look up nothing in the workspace (S1c, C2c)', async () => {
    program(inside, 'planted');
    writeOwn({ a: entry() });
    const { stdout } = await cli.run('status');
    assert.match(stdout, /a .*failed/);
    program(outside, 'person');
    assert.match((await cli.run('status')).stdout, /a .*running/);
    assert.deepEqual(stage.ran, ['person']);
    writeFileSync(path.join(inside, 'value'), '#!/bin/sh\necho planted\n', { mode: 0o755 });
    writeFileSync(path.join(outside, 'value'), '#!/bin/sh\necho person\n', { mode: 0o755 });
    const env = { VALUE: { command: ['value'] } };
    cli.save({ b: stage.server('b', { env }) });
    writeOwn({});
    stage.offer('env');
    await stage.approve();
    assert.equal((await cli.run('call', 'b_env', '{"name":"VALUE"}')).stdout.trim(), 'person');
  });

  it('No server inherits what `npx` added, by `connect` and its engine neither (X1b)', async () => {
    const gyp = '/npm/run-script/lib/node-gyp-bin';
    const required = path.join(folder, 'x.cjs');
    writeFileSync(required, '');
    Object.assign(cli.env, {
      PATH: [inside, gyp, system].join(':'),
      npm_execpath: '/npm/bin/npx-cli.js',
      npm_config_registry: 'http://evil/',
      npm_config_node_options: `--require=${required}`,
      NODE_OPTIONS: `--require=${required}`,
      NPM_CONFIG_FUND: 'false',
      INIT_CWD: folder,
    });
    stage.offer('env');
    cli.save({ a: stage.server('a') });
    await stage.approve();
    const variables = [
      'npm_config_registry',
      'npm_execpath',
      'NODE_OPTIONS',
      'INIT_CWD',
      'NPM_CONFIG_FUND',
      'PATH',
    ];
    const client = await stage.connect('a');
    const values: string[] = [];
    for (const name of variables) {
      const { content } = await client.callTool({ name: 'a_env', arguments: { name } });
      values.push((content as { text: string }[])[0]?.text ?? '');
    }
    const [registry, ...rest] = values;
    assert.deepEqual(
      rest,
      [registry, registry, registry, 'false', system],
      'all but two are not set',
    );
    assert.doesNotMatch(registry ?? '', /evil/);
  });
});
