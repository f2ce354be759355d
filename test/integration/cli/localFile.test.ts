/** The layer of one person on the command line (C7), in repositories that Git itself makes. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { localPath } from '../../../src/core/config/sources.js';
import { CommandLine, type Output } from '../../support/core/commandLine.js';
import { configText, rawWith } from '../../support/core/configText.js';

describe('the layer of one person (C7)', () => {
  let cli: CommandLine;
  let local: string;

  beforeEach(async () => {
    cli = await CommandLine.open({ a: rawWith(['echo', 'add']), b: rawWith(['count']) });
    local = path.join(cli.folder, localPath);
  });

  afterEach(() => cli.close());

  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd,
      env: { ...process.env, HOME: cli.home, GIT_CONFIG_NOSYSTEM: '1' },
      encoding: 'utf8',
    });

  async function json(...args: string[]): Promise<unknown> {
    const { stdout, stderr, code } = await cli.run(...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  }

  interface Listed {
    readonly id: string;
    readonly tools: readonly { readonly published: string }[];
    readonly local: readonly string[];
  }

  const namesOf = (servers: readonly Listed[]): (readonly [string, readonly string[], number])[] =>
    servers.map(({ id, tools, local: keys }) => [id, keys, tools.length] as const);

  it('`tools` and `status` mark what the layer changes, and `--no-local` leaves it out', async () => {
    writeFileSync(
      local,
      configText({
        a: { tools: { blacklist: ['add'] } },
        b: { enabled: false },
        own: rawWith(['pid']),
      }),
    );
    assert.deepEqual(namesOf((await json('tools')) as Listed[]), [
      ['a', ['tools.blacklist'], 1],
      ['b', ['enabled'], 0],
      ['own', ['transport', 'command', 'args'], 1],
    ]);
    assert.deepEqual(namesOf((await json('tools', '--no-local')) as Listed[]), [
      ['a', [], 2],
      ['b', [], 1],
    ]);
    for (const command of ['tools', 'status']) {
      const { stdout } = await cli.run(command);
      assert.match(
        stdout,
        /^Only for you, by \.minds\/mcp\.local\.yaml: a \(tools\.blacklist\); b \(enabled\); own \(transport, command, args\)\.$/m,
      );
    }
    assert.doesNotMatch((await cli.run('status', '--no-local')).stdout, /Only for you/);
  });

  it('`tools` marks each tool that only the lists of the layer publish or leave out', async () => {
    writeFileSync(
      cli.file,
      configText({ a: rawWith(['echo', 'add', 'pid'], { tools: { blacklist: ['e*', 'pid'] } }) }),
    );
    writeFileSync(local, configText({ a: { tools: { blacklist: ['add', 'pid'] } } }));
    const { stdout } = await cli.run('tools');
    assert.match(stdout, /^a +echo +only for you *$/m);
    assert.match(stdout, /^a +\(add\) .* · only for you *$/m);
    assert.match(stdout, /^a +\(pid\) (?!.*only for you)/m);
    writeFileSync(local, configText({ a: { timeouts: { call: '5m' } } }));
    assert.doesNotMatch((await cli.run('tools')).stdout, /only for you/);
  });

  it('a joined launch that differs from the approved one waits, with the difference', async () => {
    assert.equal((await cli.run('tools')).code, 0);
    writeFileSync(local, configText({ a: { env: { NODE_OPTIONS: '--import=./evil.mjs' } } }));
    cli.approves = false;
    const { stdout, stderr } = await cli.run('tools', 'a');
    assert.doesNotMatch(stdout, /echo/);
    assert.match(stderr, /^a waits for approval/m);
    assert.match((await cli.run('approve')).stdout + stderr, /NODE_OPTIONS/);
  });

  it('a server of the own file waits under a layer, which a repository could bring (S1c)', async () => {
    const own = path.join(cli.home, '.minds/mcp.yaml');
    mkdirSync(path.dirname(own), { recursive: true });
    writeFileSync(own, configText({ own: rawWith(['pid']) }));
    cli.approves = false;
    assert.match((await cli.run('tools', 'own')).stdout, /pid/, 'without a layer it needs none');
    for (const entry of [{ env: { A: 'b' } }, { transform: [{ prefix: 'x_' }] }]) {
      writeFileSync(local, configText({ own: entry }));
      const { stdout, stderr } = await cli.run('tools', 'own');
      assert.doesNotMatch(stdout, /pid/);
      assert.match(stderr, /own wait for approval/);
    }
  });

  it('`check` reports the problems of both files, each at its place, and a mistake of the whole layer costs the layer', async () => {
    writeFileSync(
      local,
      'version: 1\nservers:\n  a: { timeouts: { call: soon } }\n  aa: {}\n  bb: { enabled: true }\n',
    );
    const { stdout, code } = await cli.run('check');
    assert.equal(code, 1);
    assert.match(stdout, /mcp\.local\.yaml:3:\d+: error duration-invalid/);
    assert.match(stdout, /mcp\.local\.yaml:5:\d+: warning local-entry-alone.*Write `b`/);
    writeFileSync(local, 'version: 1\nservers: [');
    assert.match((await cli.run('check')).stdout, /mcp\.local\.yaml:.*yaml-syntax/);
    assert.match((await cli.run('tools')).stdout, /echo/);
  });

  it('the layer works without `.minds/mcp.yaml`', async () => {
    rmSync(cli.file);
    writeFileSync(local, configText({ own: rawWith(['pid']) }));
    assert.match((await cli.run('tools')).stdout, /^own +pid/m);
  });

  describe('with Git', () => {
    const importing = path.join('..', 'mcp.json');
    const excluded = (): string => readFileSync(path.join(cli.folder, '.git/info/exclude'), 'utf8');

    beforeEach(() => {
      git(cli.folder, 'init', '--quiet');
      writeFileSync(
        path.join(cli.folder, importing),
        JSON.stringify({ mcpServers: { mine: { command: 'node', args: ['mine.mjs'] } } }),
      );
    });

    const imported = (): Promise<Output> => cli.run('import', importing, '--local', '--write');

    it('the first write keeps the file out of Git, and changes no file of the work tree for it', async () => {
      git(cli.folder, 'add', '.');
      git(cli.folder, 'commit', '--quiet', '--message', 'all');
      const { code, stderr } = await imported();
      assert.equal(code, 0, stderr);
      assert.match(readFileSync(local, 'utf8'), /mine:/);
      assert.equal(git(cli.folder, 'status', '--porcelain'), '');
      assert.match(excluded(), /^\/\.minds\/mcp\.local\.yaml$/m);
      const once = excluded();
      rmSync(local);
      await imported();
      assert.equal(excluded(), once);
    });

    for (const [where, pattern] of [
      ['.gitignore', '*.local.*\n'],
      ['.minds/.gitignore', '/mcp.local.yaml\n'],
      ['.git/info/exclude', '.minds/mcp.local.*\n'],
    ] as const)
      it(`a file that Git ignores already is added nowhere: ${where}`, async () => {
        appendFileSync(path.join(cli.folder, where), pattern);
        const before = excluded();
        await imported();
        assert.equal(excluded(), before);
      });

    it('a deeper `!` counts, so the file is added', async () => {
      writeFileSync(path.join(cli.folder, '.gitignore'), '*.local.yaml\n');
      writeFileSync(path.join(cli.folder, '.minds/.gitignore'), '!mcp.local.yaml\n');
      await imported();
      assert.match(excluded(), /^\/\.minds\/mcp\.local\.yaml$/m);
    });

    it('a tracked file is a warning, until Git tracks it no more', async () => {
      writeFileSync(local, 'version: 1\nservers: {}\n');
      assert.doesNotMatch((await cli.run('check')).stdout, /local-file-tracked/);
      git(cli.folder, 'add', '--force', '.minds');
      const { stdout, code } = await cli.run('check');
      assert.equal(code, 0);
      assert.match(stdout, /mcp\.local\.yaml:1:1: warning local-file-tracked/);
      git(cli.folder, 'rm', '--quiet', '--cached', localPath);
      assert.doesNotMatch((await cli.run('check')).stdout, /local-file-tracked/);
      assert.ok(existsSync(local));
    });

    it('a worktree uses the layer of the main worktree, with paths from the worktree, unless it has its own', async () => {
      const tree = path.join(cli.folder, '..', 'tree');
      git(cli.folder, 'add', cli.file);
      git(cli.folder, 'commit', '--quiet', '--message', 'shared');
      git(cli.folder, 'worktree', 'add', '--quiet', '-b', 'tree', tree);
      mkdirSync(path.join(tree, 'sub'));
      writeFileSync(local, configText({ a: { cwd: 'sub' }, b: { enabled: false } }));
      const statusIn = async (cwd: string): Promise<Output> => {
        const { command, args, env } = cli.commandOf('check');
        return await cli.finishBeside(spawn(command, args, { cwd, env }));
      };
      assert.match(
        (await statusIn(cli.folder)).stdout,
        /cwd/,
        'no such folder in the main worktree',
      );
      assert.equal((await statusIn(tree)).stdout, 'No problems.\n');
      const toolsIn = async (): Promise<string> => {
        const { command, args, env } = cli.commandOf('tools', '--approve', '--json');
        return (await cli.finishBeside(spawn(command, args, { cwd: tree, env }))).stdout;
      };
      assert.deepEqual(namesOf(JSON.parse(await toolsIn()) as Listed[]), [
        ['a', ['cwd'], 2],
        ['b', ['enabled'], 0],
      ]);
      appendFileSync(local, configText({ own: rawWith(['pid']) }).replace(/^.*\n.*\n/, ''));
      assert.match((await cli.run('approve', '--yes')).stdout, /own/);
      cli.approves = false;
      const { command, args, env } = cli.commandOf('tools', 'own');
      const shared = await cli.finishBeside(spawn(command, args, { cwd: tree, env }));
      assert.match(shared.stdout, /pid/, shared.stderr);
      writeFileSync(path.join(tree, localPath), 'version: 1\n');
      assert.deepEqual(namesOf(JSON.parse(await toolsIn()) as Listed[]), [
        ['a', [], 2],
        ['b', [], 1],
      ]);
    });
  });
});
