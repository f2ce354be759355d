/** The layer of one person on the command line (C7), in repositories that Git itself makes. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { localPath } from '../../../src/core/config/sources.js';
import { CommandLine, type Output } from '../../support/core/commandLine.js';
import { configText, rawWith } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';
import { posixIt } from '../../support/notHere.js';

const whereReadable = posixIt('Windows does not tell where a link to a missing file leads');

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

  it('A server that waits with `--no-local` is approved by the command that the line names', async () => {
    writeFileSync(local, configText({ a: { env: { LOG: 'debug' } } }));
    assert.equal((await cli.run('approve', '--yes')).code, 0);
    const { stderr } = await cli.run('status', '--no-local');
    const [, ...words] = /`mcp-toolsets (.+?)`/.exec(stderr)?.[1]?.split(' ') ?? [];
    const approved = await cli.run('approve', ...words, '--yes');
    assert.match(approved.stdout + approved.stderr, /^Approved: a\.$/m, stderr);
  });

  it('`entries --write` approves what the agent starts, with the layer of this person', async () => {
    writeFileSync(local, configText({ a: { env: { LOG: 'debug' } }, own: rawWith(['pid']) }));
    const written = await cli.run('entries', 'codex', '--write', '--yes');
    assert.equal(written.code, 0, written.stderr);
    assert.doesNotMatch(written.stdout, /own/);
    assert.equal((await cli.run('approve')).stdout.trim(), 'No server waits for approval.');
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

  it('without the layer, the command that approves has `--no-local` too', async () => {
    writeFileSync(local, configText({ a: { env: { LOG_LEVEL: 'debug' } }, b: { enabled: false } }));
    assert.match((await cli.run('approve', '--yes')).stdout, /^Approved: a\.$/m);
    cli.approves = false;
    const { stderr } = await cli.run('tools', '--no-local');
    assert.match(stderr, /Run `mcp-toolsets approve a b --no-local`\. --approve/);
    const approved = await cli.run('approve', 'a', 'b', '--no-local', '--yes');
    assert.match(approved.stdout, /^Approved: a, b\.$/m);
    assert.equal((await cli.run('tools', '--no-local')).stderr, '');
  });

  it('`entries` names the toolsets of the team, and approves what `connect` starts with the layer', async () => {
    const own = { ...rawWith(['pid']), env: { A: 'b' } };
    writeFileSync(local, configText({ a: { env: { B: 'c' } }, b: { enabled: false }, own }));
    const { stdout, stderr } = await cli.run('entries', 'claude-code', '--each');
    assert.match(stderr, /^ *own {2}·/m);
    assert.match(stderr, /B = "c"/);
    assert.doesNotMatch(stderr, /^ *b {2}·/m);
    assert.match(stdout, /"b": \{/);
    assert.doesNotMatch(stdout, /"own": \{/);
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

  it('Beside a program that serves the folder with the layer, `--no-local` shows and serves what a colleague gets', async () => {
    writeFileSync(
      local,
      configText({
        a: { tools: { blacklist: ['add'] } },
        b: { enabled: false },
        own: rawWith(['pid']),
      }),
    );
    const serving = await Serving.begin(cli, ['a', 'own']);
    const clients: Client[] = [];
    const connect = async (...args: string[]): Promise<string[]> => {
      const client = new Client({ name: 'agent', version: '1' });
      const { command, args: words, env } = cli.commandOf('connect', ...args);
      clients.push(client);
      await client.connect(
        new StdioClientTransport({
          command,
          args: words,
          cwd: cli.folder,
          env: env as Record<string, string>,
        }),
      );
      const { tools } = await client.listTools();
      return tools.map(({ name }) => name).filter((name) => !name.startsWith('mcp_'));
    };
    const hosts = (): number =>
      cli.processes().filter(({ command }) => command.includes('guardian.js')).length;
    const beside = (...args: string[]): Promise<Output> => cli.finishBeside(cli.begin(...args));
    try {
      assert.deepEqual(await connect('a'), ['echo']);
      assert.equal(hosts(), 1, 'it joins');
      assert.deepEqual(await connect('a', '--no-local'), ['echo', 'add']);
      assert.equal(hosts(), 2, 'it has its own servers');
      assert.deepEqual(await connect('b', '--no-local'), ['count']);
      assert.deepEqual(await connect('a'), ['echo'], 'the others keep theirs');
      const status = await beside('status', '--no-local');
      assert.match(status.stdout, /^b .*1 of 1/m);
      assert.doesNotMatch(status.stdout, /Only for you|^own/m);
      assert.match(status.stdout, /^Served by `serve`/m);
      const tools = await beside('tools', '--no-local', '--json');
      assert.deepEqual(namesOf(JSON.parse(tools.stdout) as Listed[]), [
        ['a', [], 2],
        ['b', [], 1],
      ]);
      assert.match((await beside('status')).stdout, /^Only for you, by .*: a .*; b .*; own /m);
    } finally {
      for (const client of clients) await client.close();
      await serving.end();
    }
  });

  const importing = path.join('..', 'mcp.json');

  const imports = (servers: object, ...args: string[]): Promise<Output> => {
    writeFileSync(path.join(cli.folder, importing), JSON.stringify({ mcpServers: servers }));
    return cli.run('import', importing, '--write', ...args);
  };

  it('`import --local` gives a server another id than those that it would lie over, and a secret another name', async () => {
    const secret = { env: { API_KEY: { secret: 'A_API_KEY' } } };
    cli.save({ a: rawWith(['echo'], secret), b: { transport: 'stdio', command: 'node' } });
    writeFileSync(path.join(cli.folder, '.mcprc'), '{ "c": { "command": "node" } }');
    const own = path.join(cli.home, '.minds/mcp.yaml');
    mkdirSync(path.dirname(own), { recursive: true });
    writeFileSync(own, configText({ d: { transport: 'stdio', command: 'node' } }));
    const before = readFileSync(cli.file, 'utf8');
    const { code, stderr } = await imports(
      {
        a: { command: 'other', env: { API_KEY: 'sk-ant-api03-0123456789abcdef' } },
        b: { command: 'node' },
        c: { command: 'other' },
        d: { command: 'other' },
      },
      '--local',
    );
    assert.equal(code, 0, stderr);
    assert.match(stderr, /`a-2`: it was `a`, which is taken\./);
    assert.match(stderr, /`b`: it is configured already\./);
    const text = readFileSync(local, 'utf8');
    assert.deepEqual(text.match(/^ {2}\S+:$/gm), ['  a-2:', '  c-2:', '  d-2:']);
    assert.doesNotMatch(text, /secret: A_API_KEY/);
    assert.equal(readFileSync(cli.file, 'utf8'), before);
  });

  it('`import` into the shared file does not depend on the layer, and says if the layer lies over the server', async () => {
    writeFileSync(local, configText({ mine: { enabled: false }, other: { enabled: false } }));
    const layer = readFileSync(local, 'utf8');
    const { code, stderr } = await imports({ mine: { command: 'node' } });
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^Your local file has "mine" too, so for you it lies over the imported entry\.$/m,
    );
    assert.match(readFileSync(cli.file, 'utf8'), /^ {2}mine:$/m);
    assert.equal(readFileSync(local, 'utf8'), layer);
    assert.match((await cli.run('status')).stdout, /^mine .*disabled/m);
  });

  describe('with Git', () => {
    const excluded = (): string => readFileSync(path.join(cli.folder, '.git/info/exclude'), 'utf8');

    beforeEach(() => {
      git(cli.folder, 'init', '--quiet');
    });

    const imported = (): Promise<Output> =>
      imports({ mine: { command: 'node', args: ['mine.mjs'] } }, '--local');

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

    it('a linked `.minds` inside the repository has its layer where Git sees it', async () => {
      const real = path.join(cli.folder, 'config/minds');
      mkdirSync(path.dirname(real));
      renameSync(path.dirname(cli.file), real);
      symlinkSync('config/minds', path.dirname(cli.file), 'dir');
      git(cli.folder, 'add', '.');
      git(cli.folder, 'commit', '--quiet', '--message', 'linked');
      const { code, stderr } = await imported();
      assert.equal(code, 0, stderr);
      assert.match(excluded(), /^\/config\/minds\/mcp\.local\.yaml$/m);
      assert.equal(git(cli.folder, 'status', '--porcelain'), '');
      assert.match((await cli.run('tools')).stdout, /Only for you, .*: mine/);
      git(cli.folder, 'add', '--force', '.');
      assert.match((await cli.run('check')).stdout, /warning local-file-tracked/);
    });

    const theirs = path.join('..', 'theirs');

    it('a `.minds` that is a link out of the folder is read with its layer, and nothing is written', async () => {
      const outside = path.join(cli.folder, theirs);
      renameSync(path.dirname(cli.file), outside);
      symlinkSync(outside, path.dirname(cli.file), 'dir');
      const { code, stderr } = await imported();
      assert.equal(code, 1);
      assert.match(stderr, /Nothing was imported: .*outside/);
      assert.deepEqual(readdirSync(outside), ['mcp.yaml']);
      assert.doesNotMatch(excluded(), /local/);
      writeFileSync(local, configText({ b: { enabled: false } }));
      assert.deepEqual(namesOf((await json('tools')) as Listed[]), [
        ['a', [], 2],
        ['b', ['enabled'], 0],
      ]);
    });

    it('an approval in one folder counts for no folder whose `.minds` is a link to its own', async () => {
      writeFileSync(local, configText({ own: rawWith(['pid']) }));
      assert.match((await cli.run('approve', '--yes')).stdout, /a, b, own/);
      cli.approves = false;
      const other = path.join(cli.folder, theirs);
      mkdirSync(other);
      symlinkSync(path.dirname(cli.file), path.join(other, '.minds'), 'dir');
      assert.match((await cli.run('tools', '-C', other)).stderr, /^a, b, own wait for approval/m);
      assert.match((await cli.run('tools')).stdout, /^own +pid/m);
    });

    for (const [what, target] of [
      ['the file of the team', 'mcp.yaml'],
      ['a file of the work tree that is missing', '../new.yaml'],
      ['a file of Git', '../.git/new.yaml'],
      ['a file outside', '../../theirs.yaml'],
    ] as const)
      whereReadable(`a layer that is a link to ${what} is read and never written`, async () => {
        symlinkSync(target, local);
        const file = path.join(path.dirname(local), target);
        const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
        const { code, stderr } = await imported();
        assert.equal(code, 1);
        assert.match(stderr, /Nothing was imported: .*(is a link to|outside)/);
        assert.equal(existsSync(file) ? readFileSync(file, 'utf8') : undefined, before);
        assert.doesNotMatch(excluded(), /local/);
        if (before === undefined) writeFileSync(file, configText({ b: { enabled: false } }));
        assert.match((await cli.run('status')).stdout, /Only for you/);
        git(cli.folder, 'add', local);
        assert.match((await cli.run('check')).stdout, /warning local-file-tracked/);
      });

    it('in a worktree, `import --local` writes the layer that counts there', async () => {
      const tree = path.join(cli.folder, '..', 'tree');
      git(cli.folder, 'add', cli.file);
      git(cli.folder, 'commit', '--quiet', '--message', 'shared');
      git(cli.folder, 'worktree', 'add', '--quiet', '-b', 'tree', tree);
      const importsThere = (): Promise<Output> =>
        imports({ mine: { command: 'node', args: ['mine.mjs'] } }, '--local', '-C', tree);
      writeFileSync(local, configText({ b: { enabled: false } }));
      assert.match((await importsThere()).stderr, /^Wrote .*workspace.*mcp\.local\.yaml/m);
      assert.match(readFileSync(local, 'utf8'), /^ {2}mine:$/m);
      assert.ok(!existsSync(path.join(tree, localPath)));
      rmSync(local);
      assert.match((await importsThere()).stderr, /^Wrote .*tree.*mcp\.local\.yaml/m);
      assert.equal(git(tree, 'status', '--porcelain'), '');
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
