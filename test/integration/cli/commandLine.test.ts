/** The command line as a process (H1): its output, its exit code and no leftovers. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { StatusSnapshot } from '../../../src/core/reconcile/status.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { configText, fixture, rawWith, several } from '../../support/core/configText.js';
import { itNotHere, posixIt } from '../../support/notHere.js';

const root = path.resolve(__dirname, '../../..');
const pages = [
  'README.md',
  'SECURITY.md',
  ...readdirSync(path.join(root, 'docs')).map((name) => `docs/${name}`),
];
const page = readFileSync(path.join(root, 'docs/command-line.md'), 'utf8');
const [, tableOfCommands = ''] = page.split('\n## Commands\n');

/** The commands in the first table of the page. */
const commands = [
  ...new Set(
    [...(tableOfCommands.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)[^|]*\|.*\|$/gm)].map(
      ([, name = '']) => name,
    ),
  ),
];

/** The options that the page gives to a command by its name. */
function documentedOptions(command: string): string[] {
  const rows = [...page.matchAll(/^\| (`-.*?) \| (.*?) \| .*\|$/gm)];
  return rows
    .filter(([, , owners = '']) => owners.includes(`\`${command}\``) && !owners.includes('except'))
    .flatMap(([, cell = '']) => [...cell.matchAll(/--([\w-]+)/g)].map(([, name]) => name ?? ''));
}

const helpOfAll = /^`mcp-toolsets --help` lists the commands\.$/;
const helpOfCommand = (name: string): RegExp =>
  new RegExp(`^\`mcp-toolsets ${name} --help\` explains it\\.$`);

describe('command line', () => {
  let cli: CommandLine;

  before(async () => {
    cli = await CommandLine.open();
  });

  afterEach(() => {
    rmSync(cli.file, { recursive: true, force: true });
  });

  after(() => cli.close());

  describe('help and usage', () => {
    it('The command line prints its help and its version', async () => {
      const help = await cli.run('--help');
      assert.deepEqual([help.code, help.stderr], [0, '']);
      for (const command of commands) assert.match(help.stdout, new RegExp(`^  ${command} `, 'm'));
      const { code, stdout } = await cli.run('--version');
      assert.equal(code, 0);
      assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
    });

    for (const command of commands) {
      it(`The help of a command has what its row in the docs has, and its options: ${command}`, async () => {
        const { code, stdout, stderr } = await cli.run(command, '--help');
        assert.deepEqual([code, stderr], [0, '']);
        const [usage = ''] = stdout.split('\n');
        assert.ok(usage.startsWith(`Usage: mcp-toolsets ${command} `), usage);
        const listed = [...stdout.matchAll(/^ {2}(?:-C, )?--([\w-]+)/gm)].map(([, name]) => name);
        assert.deepEqual(listed, [...new Set(listed)]);
        assert.deepEqual(listed.slice(-3), ['folder', 'json', 'debug']);
        const own = documentedOptions(command).filter((option) => !listed.includes(option));
        assert.deepEqual(own, [], stdout);
      });
    }

    it('The pages name only commands and options that exist', async () => {
      const help = new Map<string, string>();
      let checked = 0;
      for (const command of commands) help.set(command, (await cli.run(command, '--help')).stdout);
      for (const name of pages) {
        const text = readFileSync(path.join(root, name), 'utf8');
        const used = text.matchAll(/\bmcp-toolsets ([a-z]+)((?: +(?![#|&;])[^\s`]+)*)/g);
        for (const [whole, command = '', words = ''] of used) {
          if (/^(?:is|and|or|connects|keeps|in|behind|yet)$/.test(command)) continue;
          const taken = help.get(command);
          assert.ok(taken !== undefined, `${name}: ${whole}`);
          checked++;
          const own = words.split(' -- ')[0] ?? '';
          for (const [, option = ''] of own.matchAll(/(?<=\s)--([a-z-]+)/g))
            assert.ok(taken.includes(`--${option} `), `${name}: ${whole}`);
        }
      }
      assert.ok(checked > 60, `${checked}`);
    });

    it('The help of a command comes also behind its arguments, and not for an unknown command', async () => {
      assert.equal((await cli.run('call', 'x', '-h')).code, 0);
      const unknown = await cli.run('chekc', '--help');
      assert.deepEqual([unknown.code, unknown.stdout], [2, '']);
    });

    for (const [args, says] of [
      [[], /A command is missing/],
      [['chekc'], /Unknown command "chekc"/],
      [['check', '--strat'], /--strat/],
      [['call'], /name of a tool is missing/],
      [['call', 'x', '{}', '--answers', 'no'], /answers are not JSON/],
      [['check', '-C', 'no/such/folder'], /The folder .*no[\\/]such[\\/]folder does not exist/],
    ] as const) {
      it(`Wrong usage exits with 2: ${args.join(' ') || 'nothing'}`, async () => {
        const { code, stdout, stderr } = await cli.run(...args);
        assert.deepEqual([code, stdout], [2, '']);
        const [cause = '', help = '', ...more] = stderr.trimEnd().split('\n');
        assert.match(cause, says);
        const isKnown = args[0] === 'check' || args[0] === 'call';
        assert.match(help, isKnown ? helpOfCommand(args[0]) : helpOfAll);
        assert.deepEqual(more, []);
      });
    }
  });

  describe('unsuitable options', () => {
    for (const args of [
      ['check', '../other/.minds/mcp.yaml'],
      ['status', 'a'],
      ['serve', 'a'],
      ['tools', 'a', 'b'],
      ['connect', 'a', 'b'],
      ['entries', 'codex', 'b'],
      ['call', 'a', '{}', 'b'],
      ['secret', 'list', 'a'],
    ]) {
      it(`An unsuitable option is refused: ${args.join(' ')}`, async () => {
        const { code, stdout, stderr } = await cli.runWith({}, ...args);
        assert.deepEqual([code, stdout], [2, '']);
        const [cause = '', help = '', ...more] = stderr.trimEnd().split('\n');
        assert.match(cause, /^`[^`]+` does not take the argument "[^"]*"\.$/);
        assert.match(help, helpOfCommand(args[0] ?? ''));
        assert.deepEqual(more, []);
      });
    }

    const why =
      ' An agent starts it, so it starts only what was approved: by `mcp-toolsets approve`.';
    for (const [args, option, reason] of [
      [['connect', '--approve'], '--approve', why],
      [['connect', '--approve-edits'], '--approve-edits', why],
      [['connect', '--yes'], '--yes', why],
      [['connect', '--port', '1'], '--port', ''],
      [['call', 'x', '--start'], '--start', ''],
      [['import', 'x.json', '--yes'], '--yes', ''],
      [['replay', 'x.jsonl', '--approve'], '--approve', ''],
    ] as const) {
      it(`An option of another command is refused: ${args.join(' ')}`, async () => {
        const { code, stdout, stderr } = await cli.runWith({}, ...args);
        assert.deepEqual([code, stdout], [2, '']);
        assert.equal(
          stderr.split('\n')[0],
          `\`${args[0]}\` does not take the option ${option}.${reason}`,
        );
      });
    }
  });

  it('A bad token file is reported, and a foreign file is not changed', async () => {
    const cli = await CommandLine.open({});
    try {
      const notes = path.join(cli.folder, 'notes');
      writeFileSync(notes, 'my notes\n', { mode: 0o600 });
      const foreign = await cli.run('serve', '--token-file', 'notes');
      assert.deepEqual([foreign.code, foreign.stdout], [1, '']);
      assert.match(foreign.stderr, /^The token of this folder cannot be kept in \S+notes: /);
      assert.match(
        foreign.stderr,
        /notes is not a token file, so it stays as it is: .* --token-file/,
      );
      assert.equal(readFileSync(notes, 'utf8'), 'my notes\n');
      cli.useHome(path.join(notes, 'home'));
      const homeless = await cli.run('serve');
      assert.deepEqual([homeless.code, homeless.stdout], [1, ''], homeless.stderr);
      assert.match(homeless.stderr, /^[^\n]+\n$/);
    } finally {
      await cli.close();
    }
  });

  describe('check', () => {
    it('`check` of a good file reports no problems', async () => {
      const { code, stdout, stderr } = await cli.runWith({ a: rawWith(['echo']) }, 'check');
      assert.deepEqual([code, stdout, stderr], [0, 'No problems.\n', '']);
    });

    it('`check` of a named folder without a config file fails, also with --start and with an own file', async () => {
      const other = path.join(cli.folder, 'other');
      mkdirSync(other);
      mkdirSync(path.join(cli.home, '.minds'), { recursive: true });
      writeFileSync(path.join(cli.home, '.minds/mcp.yaml'), 'version: 1\nservers: {}\n');
      try {
        for (const args of [['check'], ['check', '--start'], ['check', '--json']]) {
          const { code, stdout, stderr } = await cli.runWith({}, ...args, '-C', other);
          assert.deepEqual([code, stdout], [1, ''], args.join(' '));
          assert.match(stderr, /other[\\/]\.minds[\\/]mcp\.yaml does not exist/);
        }
        assert.equal((await cli.runWith({}, 'check', '-C', '.')).code, 0);
      } finally {
        rmSync(path.join(cli.home, '.minds/mcp.yaml'));
        rmSync(other, { recursive: true });
      }
    });

    it('`check` reports the problems of the team file at their places', async () => {
      const team = path.join(cli.folder, '.minds/team.yaml');
      const text = [
        'default_responder: bob',
        'members:',
        '  alice: { toolsets: [a, b, "!c"] }',
        '  "no id!": {}',
      ];
      mkdirSync(path.dirname(team), { recursive: true });
      writeFileSync(team, text.join('\n'));
      try {
        const { code, stdout } = await cli.runWith({ a: rawWith(['echo']) }, 'check');
        assert.equal(code, 1);
        const found = [...stdout.matchAll(/team\.yaml:(\d+):\d+: (\w+) ([\w-]+):/g)];
        assert.deepEqual(
          found.map(([, line, severity, problem]) => `${line} ${severity} ${problem}`),
          [
            '1 error member-unknown',
            '3 warning toolset-unknown',
            '3 warning grant-without-effect',
            '3 warning toolset-unknown',
            '4 error member-id-invalid',
          ],
        );
        writeFileSync(team, 'members: [');
        const broken = await cli.runWith({ a: rawWith(['echo']) }, 'check');
        assert.deepEqual([broken.code, /team\.yaml:.* yaml-syntax/.test(broken.stdout)], [1, true]);
        rmSync(team);
        mkdirSync(team);
        const folder = await cli.runWith({ a: rawWith(['echo']) }, 'check');
        assert.match(folder.stdout, /team\.yaml:1:1: error file-unreadable/);
      } finally {
        rmSync(team, { recursive: true });
      }
    });

    it('`check --start` says which toolsets of the team have no tools now', async () => {
      const team = path.join(cli.folder, '.minds/team.yaml');
      mkdirSync(path.dirname(team), { recursive: true });
      writeFileSync(team, 'members: { alice: { toolsets: [a, off] } }\n');
      try {
        const servers = { a: rawWith(['echo']), off: { ...rawWith(['echo']), enabled: false } };
        const { code, stdout } = await cli.runWith(servers, 'check', '--start');
        assert.equal(code, 0, stdout);
        assert.match(stdout, /information toolset-deferred: Toolset `off` .* is disabled/);
        assert.doesNotMatch(stdout, /Toolset `a`/);
      } finally {
        rmSync(team);
      }
    });

    it('`check` without a file succeeds and says so', async () => {
      const { code, stdout } = await cli.runWith(undefined, 'check');
      assert.equal(code, 0);
      assert.match(stdout, /The file .*mcp\.yaml does not exist/);
    });

    it('`check` of an unreadable file is an error', async () => {
      mkdirSync(cli.file);
      const { code, stdout, stderr } = await cli.runWith(undefined, 'check');
      assert.equal(code, 1);
      assert.match(stdout, /mcp\.yaml:1:1: error file-unreadable: /);
      assert.equal(stderr, '');
    });

    it('`check` names each problem as file:line:column and exits with 1', async () => {
      const text = [
        'version: 1',
        'servers:',
        '  good: { transport: stdio, command: node }',
        '  old:',
        '    transport: sse',
        '    url: https://example.com/mcp',
        '  unset:',
        '    transport: stdio',
        '    command: node',
        '    env: { TOKEN: { env: SURELY_NOT_SET_ANYWHERE } }',
        '    truely_stateless: true',
        '',
      ].join('\n');
      const { code, stdout } = await cli.runWith(text, 'check');
      assert.equal(code, 1);
      const lines = stdout.trimEnd().split('\n');
      assert.deepEqual(
        lines.map((line) => /^(.*?):(\d+:\d+): (\w+) ([\w-]+): /.exec(line)?.slice(1)),
        [
          [cli.file, '5:16', 'error', 'transport-sse'],
          [cli.file, '10:19', 'error', 'env-unset'],
          [cli.file, '11:5', 'warning', 'unknown-key'],
        ],
      );
    });

    it('`check` reports the line of a syntax error, and exits with 0 if there are only warnings', async () => {
      const wrong = await cli.runWith('version: 1\nservers:\n  a: [\n', 'check');
      assert.equal(wrong.code, 1);
      assert.match(wrong.stdout, /mcp\.yaml:\d+:\d+: error yaml-syntax: /);
      const warned = await cli.runWith('version: 1\nservers: {}\nextra: 1\n', 'check');
      assert.equal(warned.code, 0);
      assert.match(warned.stdout, /mcp\.yaml:3:1: warning unknown-key: /);
    });

    it('`check` reports mistakes in a disabled entry as information and exits with 0 (C1)', async () => {
      const off = { a: { enabled: false, transport: 'sse', comand: 'x' }, b: rawWith(['echo']) };
      const { code, stdout } = await cli.runWith(off, 'check');
      assert.equal(code, 0);
      assert.match(stdout, / information transport-sse: /);
      assert.doesNotMatch(stdout, / (error|warning) /);
      const status = await cli.runWith(off, 'status');
      assert.equal(status.code, 0, status.stdout);
      assert.match(status.stdout, /^a .* disabled$/m);
    });

    it('`check` works in another folder and prints JSON', async () => {
      cli.save('version: 2\n');
      const { code, stdout } = await cli.run(
        'check',
        '--json',
        '-C',
        path.join(cli.folder, '.minds', '..'),
      );
      assert.equal(code, 1);
      const problems = JSON.parse(stdout) as { code: string; place: { file: string } }[];
      assert.equal(problems[0]?.code, 'version-unsupported');
      assert.equal(problems[0]?.place.file, cli.file);
      assert.deepEqual(JSON.parse((await cli.runWith({}, 'check', '--json')).stdout), []);
    });

    it('`check --start` also finds problems only a running server has', async () => {
      const config = {
        a: rawWith(['echo', 'add'], { tools: { blacklist: ['nothing_of_it'] } }),
        b: rawWith(['echo']),
        c: fixture('exits'),
      };
      assert.equal((await cli.runWith(config, 'check')).code, 0);
      const { code, stdout } = await cli.run('check', '--start');
      assert.equal(code, 1);
      for (const found of ['pattern-matches-nothing', 'name-taken', 'server-exited'])
        assert.match(stdout, new RegExp(`^\\S+: \\w+ ${found}: .*$`, 'm'));
      const good = await cli.runWith({ a: rawWith(['echo']) }, 'check', '--start');
      assert.deepEqual([good.code, good.stdout], [0, 'No problems.\n']);
    });
  });

  describe('status', () => {
    it('`status` prints a table of servers and exits with 1 if one failed', async () => {
      const { code, stdout } = await cli.runWith(several, 'status');
      assert.equal(code, 1);
      assert.match(stdout, /^server +transport +tools +source +state$/m);
      assert.match(stdout, /^good +stdio +4 of 5 +\.minds\/mcp\.yaml +running$/m);
      assert.match(stdout, /^off +stdio +0 of 0 +\.minds\/mcp\.yaml +disabled$/m);
      assert.match(
        stdout,
        /^bad +stdio +0 of 0 +\.minds\/mcp\.yaml +failed: .*exited with code 3/m,
      );
    });

    it('`status` reports the error of a file with unknown servers', async () => {
      cli.save('version: 1\nservers: [\n');
      const { code, stdout, stderr } = await cli.run('status');
      assert.deepEqual(
        [code, stdout],
        [1, 'No servers are known, because a config file has an error.\n'],
      );
      assert.match(stderr, /mcp\.yaml:\d+:\d+: error yaml-syntax: /);
    });

    it('`status` reports the entry with the id of the built-in toolset, which has no row (C4)', async () => {
      const entry = rawWith(['echo']);
      const { code, stdout, stderr } = await cli.runWith({ a: entry, mcp_admin: entry }, 'status');
      assert.equal(code, 1);
      assert.match(stdout, /^a .* running$/m);
      assert.doesNotMatch(stdout, /mcp_admin/);
      assert.match(stderr, /error server-id-invalid: .*mcp_admin/);
    });

    it('`status` reports the error of an entry', async () => {
      const { code, stdout } = await cli.runWith(
        { a: { ...rawWith(['echo']), timeouts: { call: '1h' } } },
        'status',
      );
      assert.equal(code, 1);
      assert.match(
        stdout,
        /^a +(stdio)? +0 of 0 +\.minds\/mcp\.yaml +invalid: `call` must be a number .* `call: 60m`\.$/m,
      );
    });

    it("`status` names the source of each server: the folder's file, its .mcprc, the user's file", async () => {
      const mcprc = path.join(cli.folder, '.mcprc');
      const users = path.join(cli.home, '.minds', 'mcp.yaml');
      mkdirSync(path.dirname(users), { recursive: true });
      writeFileSync(
        mcprc,
        JSON.stringify({ mcpServers: { kode: { ...rawWith(['echo']), transport: undefined } } }),
      );
      writeFileSync(users, configText({ mine: rawWith(['echo']), kode: rawWith(['add']) }));
      try {
        const { code, stdout } = await cli.runWith({ good: rawWith(['echo']) }, 'status');
        assert.equal(code, 0);
        assert.match(stdout, /^good .* \.minds\/mcp\.yaml +running$/m);
        assert.match(stdout, /^kode .* \.mcprc +running$/m);
        assert.match(stdout, /^mine .* ~\/\.minds\/mcp\.yaml +running$/m);
        const checked = await cli.run('check');
        assert.equal(checked.code, 0);
        assert.match(
          checked.stdout,
          /home[\\/]\.minds[\\/]mcp\.yaml:\d+:\d+: information server-shadowed: .*\.mcprc/,
        );
        writeFileSync(mcprc, '{\n  "kode": { "command" "node" }\n}');
        assert.match(
          (await cli.run('check')).stdout,
          /\.mcprc:2:23: error json-syntax: .*colon expected/,
        );
      } finally {
        rmSync(mcprc);
        rmSync(cli.home, { recursive: true });
      }
    });

    it('`status --json` prints the snapshot', async () => {
      const { code, stdout } = await cli.runWith(
        { good: several['good'] ?? {} },
        'status',
        '--json',
      );
      assert.equal(code, 0);
      const { servers } = JSON.parse(stdout) as StatusSnapshot;
      assert.deepEqual(
        [servers[0]?.id, servers[0]?.state.kind, servers[0]?.offered],
        ['good', 'running', 5],
      );
    });

    it('`status` without servers says so', async () => {
      const { code, stdout } = await cli.runWith({}, 'status');
      assert.deepEqual([code, stdout], [0, 'No servers are configured.\n']);
    });
  });

  describe('a file refused as a whole (C4)', () => {
    const refused = 'version: 1\nservers:\n  a: [\n';

    for (const args of [
      ['status'],
      ['status', '--json'],
      ['tools'],
      ['tools', 'a'],
      ['resources'],
      ['prompts', 'a'],
    ]) {
      it(`A refused file is reported on stderr with exit code 1: ${args.join(' ')}`, async () => {
        const { code, stdout, stderr } = await cli.runWith(refused, ...args);
        assert.equal(code, 1);
        assert.match(stderr, /^\S+mcp\.yaml:3:\d+: error yaml-syntax: /);
        assert.doesNotMatch(stdout, /No servers are configured/);
      });
    }

    it('A refused file prevents writing of entries, because its toolsets are unknown', async () => {
      const { code, stdout, stderr } = await cli.runWith(refused, 'entries', 'codex', '--write');
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr,
        /^\S+mcp\.yaml:3:\d+: error yaml-syntax: .*\nNothing was written: .*not known.*\n$/,
      );
      assert.ok(!existsSync(path.join(cli.folder, '.codex')));
    });
  });

  describe('import', () => {
    const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
    const theirs = (): string => path.join(cli.folder, '.mcp.json');
    const server = {
      type: 'stdio',
      ...rawWith(['echo']),
      transport: undefined,
      env: { GITHUB_TOKEN: token },
    };
    const kept = '# kept\nversion: 1\nservers:\n  a: { transport: stdio, command: x } # mine\n';

    beforeEach(() => writeFileSync(theirs(), JSON.stringify({ mcpServers: { github: server } })));
    afterEach(() => rmSync(theirs()));

    itNotHere(process.platform !== 'linux', 'folders that nobody can write to are in /sys')(
      '`import` and `entries` say in a line why they cannot write',
      async () => {
        const runs = [
          ['import', theirs(), '--write'],
          ['entries', 'claude-code', '--write'],
        ];
        for (const args of runs) {
          const { code, stdout, stderr } = await cli.run(...args, '-C', '/sys');
          assert.deepEqual([code, stdout], [1, ''], stderr);
          assert.match(stderr, /^Nothing was (imported|written): .* \(E\w+\)\.\n$/);
        }
      },
    );

    it('`import` shows its changes and the next steps, and writes nothing', async () => {
      const { code, stdout, stderr } = await cli.runWith(kept, 'import', '.mcp.json');
      assert.equal(code, 0);
      assert.match(stdout, /^\+ {2}github:$/m);
      assert.match(stdout, /^\+ {6}GITHUB_TOKEN: \{ secret: GITHUB_TOKEN \}$/m);
      assert.match(stderr, /Enter the secret `GITHUB_TOKEN`/);
      assert.match(stderr, /Nothing is written yet/);
      assert.ok(!(stdout + stderr).includes(token));
      assert.equal(readFileSync(cli.file, 'utf8'), kept);
    });

    it('`import --write` writes, keeps comments, and finds nothing to import the second time', async () => {
      assert.equal((await cli.runWith(kept, 'import', '.mcp.json', '--write')).code, 0);
      const text = readFileSync(cli.file, 'utf8');
      assert.ok(text.startsWith(kept));
      assert.ok(!text.includes(token));
      cli.env['GITHUB_TOKEN'] = 'set';
      const { stdout } = await cli.run('tools', 'github');
      assert.match(stdout, /^github +echo$/m);
      const again = await cli.run('import', '.mcp.json', '--write');
      assert.equal(again.code, 1);
      assert.match(again.stderr, /it is configured already/);
      assert.equal(readFileSync(cli.file, 'utf8'), text);
    });

    it('`import` and `entries` keep a byte order mark and do not change invalid UTF-8', async () => {
      assert.equal((await cli.runWith(`\ufeff${kept}`, 'import', '.mcp.json', '--write')).code, 0);
      assert.ok(readFileSync(cli.file, 'utf8').startsWith(`\ufeff${kept}`));
      cli.save(kept);
      const entries = path.join(cli.folder, 'opencode.json');
      const own = Buffer.from('{ "mcp": {} } // für alle\n', 'latin1');
      const config = Buffer.from(`# für alle\n${kept}`, 'latin1');
      writeFileSync(entries, own);
      for (const args of [
        ['entries', 'opencode', '--write'],
        ['import', '.mcp.json', '--write'],
      ]) {
        if (args[0] === 'import') writeFileSync(cli.file, config);
        const { code, stdout, stderr } = await cli.run(...args);
        assert.deepEqual([code, stdout], [1, '']);
        assert.match(
          stderr,
          /^Nothing was \w+: .* cannot be read: it is not written in UTF-8, but perhaps in Latin-1\.\n$/,
        );
      }
      assert.deepEqual([readFileSync(entries), readFileSync(cli.file)], [own, config]);
      rmSync(entries);
    });

    posixIt('Windows has no such limit.')(
      '`import` to a full disk leaves the file unchanged',
      async () => {
        const many = Object.fromEntries(
          Array.from({ length: 200 }, (_, index) => [`s${index}`, { command: 'x' }]),
        );
        writeFileSync(theirs(), JSON.stringify({ mcpServers: many }));
        cli.save(kept);
        const { command, args, env } = cli.commandOf('import', '.mcp.json', '--write');
        const limited = spawn('sh', ['-c', 'ulimit -f 4 && exec "$0" "$@"', command, ...args], {
          cwd: cli.folder,
          env,
        });
        const { code, stderr } = await cli.finish(limited);
        assert.equal(code, 1);
        assert.match(stderr, /^Nothing was imported: EFBIG: /);
        assert.equal(readFileSync(cli.file, 'utf8'), kept);
      },
    );

    it('`import` creates a missing file, and --format replaces an unclear file name', async () => {
      const file = path.join(cli.folder, 'servers.txt');
      writeFileSync(file, '[[mcp_servers]]\nname = "otter"\nurl = "http://127.0.0.1:1/sse"\n');
      const { code } = await cli.runWith(
        undefined,
        'import',
        'servers.txt',
        '--format',
        'otter',
        '--write',
      );
      assert.equal(code, 0);
      assert.match(
        readFileSync(cli.file, 'utf8'),
        /^version: 1\n\nservers:\n {2}otter:\n {4}transport: streamable_http\n/,
      );
      rmSync(file);
    });

    it('`import` reports files that it cannot read', async () => {
      writeFileSync(theirs(), '{ "mcpServers": ');
      const { code, stderr } = await cli.runWith(undefined, 'import', '.mcp.json');
      assert.equal(code, 1);
      assert.match(stderr, /Nothing was imported: \.mcp\.json: it is not JSON/);
      assert.equal((await cli.run('import', 'x', '--format', 'y')).code, 2);
      assert.equal((await cli.run('import', 'none.json')).code, 1);
    });
  });
});
