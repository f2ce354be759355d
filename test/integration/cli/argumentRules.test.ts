/** Rules with arguments of a call (S4e) before real servers: of files, and of git by a shell. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { textOf } from '../../support/core/answerText.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { fixture, officialServer } from '../../support/core/configText.js';
import { untilNone } from '../../support/processes.js';

describe('rules with arguments on the command line (S4e)', () => {
  let cli: CommandLine;
  let folder: string;

  before(async () => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-arguments-')));
    for (const name of ['open', 'shut']) {
      mkdirSync(path.join(folder, name));
      writeFileSync(path.join(folder, name, 'a.txt'), `text of ${name}`);
    }
    execFileSync('git', ['init', '--quiet', '--initial-branch', 'main', folder]);
    cli = await CommandLine.open({
      files: officialServer('filesystem', [folder]),
      git: fixture('shell', [folder]),
    });
  });

  after(async () => {
    await cli.stopEngines();
    await cli.close();
    rmSync(folder, { recursive: true });
  });

  const allow = (rules: object): void => {
    mkdirSync(path.join(cli.home, '.minds'), { recursive: true });
    writeFileSync(path.join(cli.home, '.minds', 'permissions.json'), JSON.stringify(rules));
  };

  const inFolder = (...parts: string[]): string => [folder, ...parts].join('/');

  const read = (file: string, ...options: string[]) =>
    cli.run('call', 'read_text_file', JSON.stringify({ path: file }), ...options);

  const run = (command: string, ...options: string[]) =>
    cli.run('call', 'shell_exec', JSON.stringify({ command }), ...options);

  it('a server of files reads what a rule allows, and no step `..` leads out', async () => {
    allow({ 'read_*': 'deny', [`read_*(path: ${folder}/open/*)`]: 'allow' });
    const { code, stdout } = await read(inFolder('open', 'a.txt'));
    assert.deepEqual([code, stdout.trim()], [0, 'text of open']);
    for (const file of [
      inFolder('shut', 'a.txt'),
      inFolder('open', '..', 'shut', 'a.txt'),
      inFolder('open', '%2e%2e', 'shut', 'a.txt'),
    ]) {
      const refused = await read(file);
      assert.equal(refused.code, 1, file);
      assert.match(refused.stderr, /The permission "read_\*" denies this call/);
    }
  });

  it('a denied command of git does not run, and others do', async () => {
    allow({ 'shell_exec(command: git tag*)': 'deny' });
    assert.equal((await run('git status')).code, 0);
    const tag = inFolder('.git', 'denied');
    const refused = await run(`git tag x; touch ${tag}`);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /"shell_exec\(command: git tag\*\)" denies this call/);
    assert.equal(existsSync(tag), false);
  });

  it('an allowed command of git takes no second command with it', async () => {
    allow({ shell_exec: 'deny' });
    const option = ['--allow', 'shell_exec(command: git status*)'];
    assert.equal((await run('git status --short', ...option)).code, 0);
    for (const more of ['; ls', ' && ls', '\nls', ' $(ls)', ' > x'])
      assert.equal((await run(`git status${more}`, ...option)).code, 1, more);
    assert.equal((await run('git status')).code, 1, 'no agent sees it without the option');
  });

  it('agents of `connect` see the tool and read which rule denied a call, and options cannot loosen it', async () => {
    allow({ 'shell_exec(command: git push*)': 'deny', 'shell_exec(command: *--force*)': 'ask' });
    await cli.run('approve', '--yes');
    const { command, args } = cli.commandOf(
      ...['connect', 'git', '--allow', 'shell_exec(command: git push*)'],
    );
    const client = new Client({ name: 'agent', version: '1' });
    const env = Object.fromEntries(
      Object.entries(cli.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    await client.connect(new StdioClientTransport({ command, args, env, cwd: cli.folder }));
    try {
      const call = async (text: string) =>
        await client.callTool({ name: 'shell_exec', arguments: { command: text } });
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['shell_exec', 'mcp_release_git'],
      );
      assert.ok(!(await call('git status')).isError);
      const denied = await call('git push');
      assert.equal(denied.isError, true);
      assert.match(textOf(denied), /"shell_exec\(command: git push\*\)" denies this call/);
      const asked = await call('git fetch --force');
      assert.match(textOf(asked), /nobody could be asked/);
    } finally {
      await client.close();
      await untilNone(() => cli.processes(), 20_000);
    }
  });

  it('`explain` says what would happen to a call, and which rule decides', async () => {
    allow({ shell_exec: 'ask', 'shell_exec(command: git push*)': 'deny' });
    const explain = (input: object, ...options: string[]) =>
      cli.run('explain', 'shell_exec', JSON.stringify(input), ...options);
    const denied = await explain({ command: 'git push' });
    assert.equal(denied.code, 1);
    assert.match(
      denied.stdout,
      /^This call: deny\. The rule "shell_exec\(command: git push\*\)" decides\.$/m,
    );
    assert.match(denied.stdout, /other agents +offered as shell_exec, a person is asked/);
    const asked = await explain({ command: 'ls' }, '--json');
    assert.equal(asked.code, 0);
    const { tools } = JSON.parse(asked.stdout) as { tools: { call: object }[] };
    assert.deepEqual(
      tools.map(({ call }) => call),
      [{ permission: 'ask', why: 'The rule "shell_exec" decides.' }],
    );
    assert.doesNotMatch(denied.stdout, /may never match/);
    const misspelt = await explain({ command: 'ls' }, '--deny', 'shell_exec(comand: rm*)');
    assert.match(
      misspelt.stdout,
      /^The rule "shell_exec\(comand: rm\*\)" may never match: no argument "comand" is in the schema\. Did you mean "command"\?$/m,
    );
    const long = await explain(
      { command: 'ab'.repeat(50_000) },
      '--deny',
      `shell_exec(command: *${'ab'.repeat(20)}*c*)`,
    );
    assert.match(long.stdout, /^This call: deny\..* takes too long to judge/m);
    const other = await cli.run('explain', 'read_text_file', '{"path":"x"}');
    assert.match(other.stdout, /^This call: allow\. No rule is about it\.$/m);
    assert.match((await cli.run('explain', 'shell_exec', 'x')).stderr, /are not JSON/);
  });

  it('a rule that cannot be read is named with its line, and counts for the whole tool', async () => {
    const file = path.join(cli.home, '.minds', 'permissions.json');
    writeFileSync(file, '{\n  "shell_exec(command git push)": "deny"\n}');
    const { code, stderr } = await run('git status');
    assert.equal(code, 1);
    assert.match(stderr, /permissions\.json:2: The rule .* cannot be read.*every call/);
  });
});
