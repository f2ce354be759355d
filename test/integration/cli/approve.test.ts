/** Approval on the command line (S1): shown launches, questions, and starts without a question. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { ApprovalStage } from '../../support/core/approvalStage.js';
import type { CommandLine } from '../../support/core/commandLine.js';
import { configText, fixture } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';
import { Terminal, terminalsMissing } from '../../support/core/terminal.js';
import { posixIt, suiteNotHere } from '../../support/notHere.js';

describe('approval on the command line (S1)', () => {
  let stage: ApprovalStage;
  let cli: CommandLine;

  beforeEach(async () => {
    stage = await ApprovalStage.open();
    ({ cli } = stage);
  });

  afterEach(() => stage.close());

  describe('`approve`', () => {
    it('`approve` shows the launch whole and inert, and approves nothing without a terminal or --yes', async () => {
      const long = 'x'.repeat(5000);
      cli.save({
        a: stage.server('a', { args: ['-e', `1;${long};2`, '\u001b[2Jowned\u202e'] }),
        b: stage.server('b'),
      });
      const { code, stdout, stderr } = await cli.run('approve', 'a');
      assert.equal(code, 1);
      assert.match(stderr, /Nothing was approved\. .*terminal.*--yes/);
      assert.ok(stdout.replace(/\n\s*… /g, '').includes(`1;${long};2`));
      assert.ok(stdout.includes(process.execPath) && stdout.includes('owned'));
      assert.doesNotMatch(stdout, /[\u001b\u202e]/);
      assert.doesNotMatch(stdout, /\bb {2}·/);
      assert.deepEqual(stage.stored, []);
    });

    it('`approve` approves the named servers or all waiting ones, and reports the rest', async () => {
      cli.save({
        a: stage.server('a'),
        b: stage.server('b'),
        off: stage.server('off', { enabled: false }),
      });
      assert.match((await cli.run('approve', '--yes', 'a')).stdout, /Approved: a\./);
      assert.match((await cli.run('approve', '--yes')).stdout, /Approved: b\./);
      const { code, stdout } = await cli.run('approve');
      assert.deepEqual([code, stdout], [0, 'No server waits for approval.\n']);
      assert.deepEqual(stage.ran, [], 'it starts none');
    });

    it('`approve` reports unknown names and, with `--json`, the waiting servers', async () => {
      cli.save({ a: stage.server('a') });
      const unknown = await cli.run('approve', '--yes', 'zeta', 'a');
      assert.deepEqual([unknown.code, stage.stored], [1, []]);
      assert.match(unknown.stderr, /There is no server "zeta"/);
      const { stdout } = await cli.run('approve', '--json', '--yes');
      assert.deepEqual(
        (JSON.parse(stdout) as { server: string }[]).map(({ server: id }) => id),
        ['a'],
      );
      assert.equal(stage.stored.length, 1);
      assert.equal((await cli.run('approve', '--json')).stdout, '[]\n');
    });

    it('`approve` never stores the value of a secret', async () => {
      const secret = 'sk-canary-5ca1ab1e5ca1ab1e';
      cli.env['FROM_HOST'] = secret;
      writeFileSync(path.join(cli.folder, '.env'), `API_TOKEN=${secret}\n`);
      cli.save({
        a: stage.server('a', {
          envFile: '.env',
          env: { API_KEY: secret, X: { env: 'FROM_HOST' } },
        }),
      });
      await stage.approve();
      assert.doesNotMatch(readFileSync(cli.approvalsFile, 'utf8'), /canary/);
    });
  });

  it('A command without a terminal starts approved servers only, and names --approve in one line (S1i)', async () => {
    cli.save({ a: stage.server('a'), b: stage.server('b') });
    const waits = (names: string): RegExp =>
      new RegExp(`^${names} for approval\\. Run \`mcp-toolsets approve .*--approve `);
    const commands = [
      ['status'],
      ['tools'],
      ['tools', 'a'],
      ['resources'],
      ['prompts'],
      ['check', '--start'],
      ['call', 'a_echo', '{"text":"hello"}'],
      ['read', 'file:///x'],
      ['prompt', 'x'],
      ['explain', 'a_echo'],
    ];
    for (const args of commands) {
      const { code, stderr } = await cli.run(...args);
      assert.equal(code, 1, `${args.join(' ')}: ${stderr}`);
      const lines = stderr.split('\n').filter((line) => line.includes('--approve'));
      assert.equal(lines.length, 1, stderr);
      assert.match(lines[0] ?? '', waits('a, b wait'));
    }
    assert.deepEqual(stage.ran, []);
    await stage.approve('a');
    assert.match((await cli.run('call', 'a_echo', '{"text":"hello"}')).stdout, /hello/);
    assert.equal((await cli.run('tools', 'a')).code, 0);
    const all = await cli.run('tools');
    assert.deepEqual([all.code, /a_echo/.test(all.stdout)], [1, true]);
    assert.match(all.stderr, waits('b waits'));
    assert.deepEqual(stage.ran, ['a']);
  }).timeout(180_000);

  it('A changed and a revoked server wait without a terminal, and --approve starts them for this run (S1i)', async () => {
    cli.save({ a: stage.server('a') });
    await stage.approve();
    const call = ['call', 'a_echo', '{"text":"hello"}'];
    const refuses = async (): Promise<void> => {
      stage.forgetRuns();
      const { code, stderr } = await cli.run(...call);
      assert.equal(code, 1);
      assert.match(
        stderr,
        /^a waits for approval\. Run `mcp-toolsets approve a`, or approve it in the editor\. --approve/m,
      );
      assert.deepEqual(stage.ran, []);
      const kept = stage.stored;
      assert.match((await cli.run(...call, '--approve')).stdout, /hello/);
      assert.deepEqual(stage.stored, kept, 'it stores nothing');
    };
    cli.save({ a: stage.server('a', { env: { MORE: '1' } }) });
    await refuses();
    cli.save({ a: stage.server('a') });
    await stage.revoke();
    await refuses();
    assert.equal((await cli.run('connect', 'a', '--approve')).code, 2);
  });

  it('`serve` without a terminal waits for the first approval too, and starts each server at once after it (S1i)', async () => {
    cli.save({ a: stage.server('a') });
    const serving = await Serving.begin(cli, ['mcp_admin']);
    try {
      await serving.until(/^a waits for approval\. .* --approve starts it for this run\.$/m);
      assert.deepEqual(stage.ran, []);
      await stage.approve('a');
      await serving.until('a  http');
      cli.save({ a: stage.server('a'), b: stage.server('b') });
      await serving.until('b waits for approval');
      assert.deepEqual(stage.ran, ['a']);
      await stage.approve('b');
      await serving.until('b  http');
    } finally {
      await serving.end();
    }
  });

  posixIt('Windows has no such modes')(
    'An approvals file that is not usable approves nothing, says why, and no command replaces it (S1h)',
    async () => {
      cli.save({ a: stage.server('a') });
      await stage.approve();
      const { approvalsFile: file } = cli;
      const text = readFileSync(file, 'utf8');
      for (const [spoilt, mode, why] of [
        [text, 0o664, /chmod 600 \S+approvals\.json/],
        [text.slice(0, text.length / 2), 0o600, /no whole JSON/],
        [text.replace('"version": 1', '"version": 2'), 0o600, /another version/],
      ] as const) {
        writeFileSync(file, spoilt);
        chmodSync(file, mode);
        stage.forgetRuns();
        for (const args of [
          ['call', 'a_echo', '{"text":"hello"}'],
          ['approve', '--yes'],
          ['entries', 'windsurf', '--write', '--yes'],
        ]) {
          const { code, stderr } = await cli.run(...args);
          assert.equal(code, 1, stderr);
          assert.match(stderr, why);
          assert.match(stderr, /approvals\.json approves nothing, because/);
        }
        assert.deepEqual(
          [stage.ran, readFileSync(file, 'utf8'), statSync(file).mode & 0o777],
          [[], spoilt, mode],
        );
        assert.match(
          (await cli.run('call', 'a_echo', '{"text":"hello"}', '--approve')).stdout,
          /hello/,
        );
      }
    },
  );

  posixIt('Windows has no such modes')(
    'Permissions that others may write permit no command (S1m)',
    async () => {
      mkdirSync(path.join(cli.home, '.minds'), { recursive: true });
      const file = path.join(cli.home, '.minds', 'permissions.json');
      writeFileSync(file, '{"*":"deny"}');
      cli.save({ a: stage.server('a') });
      for (const [spoil, why] of [
        [(): void => chmodSync(file, 0o664), /others may write .*chmod 600/],
        [
          (): void => {
            rmSync(file);
            symlinkSync(path.join(cli.home, 'nothing'), file);
          },
          /link to nothing/,
        ],
      ] as const) {
        spoil();
        const { code, stderr } = await cli.run('call', 'a_echo', '{"text":"hello"}', '--approve');
        assert.equal(code, 1);
        assert.match(stderr, why);
      }
      assert.deepEqual(stage.ran, []);
    },
  );

  posixIt('Windows has no such modes')(
    'A baseline that is not usable makes everything changed, and stays (S1m)',
    async () => {
      cli.save({ a: stage.server('a') });
      await stage.approve();
      assert.deepEqual(await stage.namesFor('a', '--hold-changed'), ['a_echo']);
      const file = path.join(cli.home, '.minds', 'offers', 'base.json');
      const text = readFileSync(file, 'utf8').slice(0, 40);
      writeFileSync(file, text);
      assert.deepEqual(await stage.namesFor('a', '--hold-changed'), []);
      const { code, stderr } = await cli.run('approve', 'a', '--yes');
      assert.equal(code, 1);
      assert.match(
        stderr,
        /base\.json is not usable, so everything that servers offer counts as changed/,
      );
      assert.equal(readFileSync(file, 'utf8'), text);
    },
  );

  it('`serve --approve` without a terminal starts the current files for its run', async () => {
    cli.save({ a: stage.server('a') });
    const serving = await Serving.begin(cli, ['a', 'mcp_admin'], '--approve');
    assert.deepEqual([stage.ran, stage.stored], [['a'], []]);
    await serving.end();
  });

  it('Changes since the approval are reported at each start until they are shown and accepted (S3)', async () => {
    cli.save({ a: stage.server('a') });
    await stage.approve();
    assert.deepEqual(await stage.namesFor('a'), ['a_echo']);
    stage.offer('echo', 'add');
    for (let start = 0; start < 2; start++) {
      assert.deepEqual(await stage.namesFor('a', '--hold-changed'), ['a_echo']);
    }
    const { code, stdout } = await cli.run('approve', 'a');
    assert.equal(code, 1);
    assert.match(stdout, /tool add {2}· {2}new since approval[^]*description/);
    assert.deepEqual(await stage.namesFor('a', '--hold-changed'), ['a_echo']);
    assert.match((await cli.run('approve', 'a', '--yes')).stdout, /tool add[^]*Accepted\./);
    assert.deepEqual(await stage.namesFor('a', '--hold-changed'), ['a_echo', 'a_add']);
    assert.match((await cli.run('approve', 'a')).stdout, /nothing that was offered has changed/);
  }).timeout(180_000);

  it('A server that lists nothing at first has its baseline in its first tools, over commands, and an empty list later changes nothing (S3)', async () => {
    cli.save({ a: stage.server('a') });
    await stage.approve();
    const names: string[][] = [];
    for (const offered of [[], ['echo'], ['echo', 'add'], [], ['echo', 'add']]) {
      stage.offer(...offered);
      names.push(await stage.namesFor('a', '--hold-changed'));
    }
    assert.deepEqual(names, [[], ['a_echo'], ['a_echo'], [], ['a_echo']]);
  }).timeout(180_000);

  it('`explain` compares with the baselines of `serve` and `connect`, and gives the reason for a new tool (N5b, S3b)', async () => {
    cli.save({ a: stage.server('a', { transform: [] }), b: fixture('raw', ['--tools', 'add']) });
    await stage.approve();
    await stage.namesFor('a');
    stage.offer('echo', 'add');
    const kept = readFileSync(path.join(cli.home, '.minds', 'offers', 'base.json'), 'utf8');
    const { tools } = JSON.parse((await cli.run('explain', 'add', '--json')).stdout) as {
      tools: { server: string; roads: { road: string; offered: boolean; why?: string }[] }[];
    };
    const roads = tools.map(
      ({ server, roads }) => [server, roads.find(({ road }) => road === 'other agents')] as const,
    );
    assert.deepEqual(
      roads.map(([server, road]) => [server, road?.offered, road?.why]),
      [
        ['a', false, 'new since approval, and “add” is in the baseline of b'],
        ['b', true, undefined],
      ],
    );
    assert.equal(
      readFileSync(path.join(cli.home, '.minds', 'offers', 'base.json'), 'utf8'),
      kept,
      'it notes nothing',
    );
  }).timeout(180_000);

  it('Writing entries shows what they start, and only --yes or a yes at a terminal approves it (S1j)', async () => {
    cli.save({ a: stage.server('a'), off: stage.server('off', { enabled: false }) });
    const shown = await cli.run('entries', 'windsurf');
    assert.match(
      shown.stderr,
      /An agent would start what you have not approved\.[^]*argument {5}a\n/,
    );
    const written = await cli.run('entries', 'windsurf', '--write');
    assert.equal(written.code, 0);
    assert.match(
      written.stderr,
      /argument {5}a\n[^]*Wrote [^]*\na waits for approval\. Run `mcp-toolsets approve a`/,
    );
    assert.deepEqual(stage.stored, []);
    assert.equal((await cli.run('entries', 'windsurf', '--yes')).code, 2);
    const answered = await cli.run('entries', 'windsurf', '--write', '--yes');
    assert.equal(answered.code, 0);
    assert.match(answered.stderr, /argument {5}a\n/);
    assert.doesNotMatch(answered.stderr, /waits/);
    assert.deepEqual(stage.storedNames, ['a']);
    assert.deepEqual(await stage.namesFor('a'), ['a_echo']);
    cli.save({ a: stage.server('evil') });
    const json = await cli.run('entries', 'windsurf', '--write', '--json');
    assert.equal((JSON.parse(json.stdout) as { starts: unknown[] }).starts.length, 1);
    assert.equal(stage.stored.length, 1);
  });

  it('An approval that is not kept, because the home folder leads to the config file, is not reported as given (S1h)', async () => {
    const linked = path.join(cli.folder, 'linked.yaml');
    writeFileSync(linked, configText({ a: stage.server('a') }));
    mkdirSync(path.join(cli.home, '.minds'), { recursive: true });
    symlinkSync(linked, path.join(cli.home, '.minds', 'mcp.yaml'));
    const why =
      /The approval of "a" holds for this run only: .*approvals\.json.*`mcp-toolsets serve`/;
    for (const args of [
      ['approve', 'a', '--yes'],
      ['entries', 'windsurf', '--write', '--yes'],
    ]) {
      const { code, stdout, stderr } = await cli.run(...args);
      assert.equal(code, 1);
      assert.match(stderr, why);
      assert.doesNotMatch(stdout + stderr, /Approved|are approved/);
    }
    assert.deepEqual(stage.stored, []);
  });

  describe('approval at a terminal', function () {
    suiteNotHere(this, terminalsMissing.here, terminalsMissing.reason);
    let terminal: Terminal | undefined;

    afterEach(async () => {
      await terminal?.close();
      terminal = undefined;
    });

    for (const [args, question] of [
      [['approve'], /Let "a" start\? \[y\]es, \[N\]o: $/],
      [['call', 'a_echo', '{"text":"hello"}'], /Let "a" start\? \[y\]es, \[N\]o: $/],
    ] as const) {
      it(`\`${args[0]}\` shows the launches and asks, and only a yes approves`, async () => {
        cli.save({ a: stage.server('a') });
        for (const [typed, count] of [
          ['\n', 0],
          ['y\n', 1],
        ] as const) {
          terminal = new Terminal(cli.commandOf(...args), cli.folder, 100);
          await terminal.until(question);
          assert.match(terminal.shown, /server\.mjs[^]*argument {5}a\r\n/);
          assert.deepEqual(stage.ran, []);
          terminal.type(typed);
          assert.equal(await terminal.end(), count === 0 ? 1 : 0, terminal.shown);
          assert.equal(stage.stored.length, count);
          await terminal.close();
        }
      });
    }

    it('`serve` asks before it listens, and starts the approved servers', async () => {
      cli.save({ a: stage.server('a'), b: stage.server('b') });
      terminal = new Terminal(cli.commandOf('serve', '--port', '0'), cli.folder, 100);
      await terminal.until(/Let these 2 servers start\? \[y\]es, \[N\]o: $/);
      assert.doesNotMatch(terminal.shown, /Listening/);
      terminal.type('y\n');
      await terminal.until(/b {2}http/);
      terminal.type('\u0003');
      assert.equal(await terminal.end(), 130);
      assert.equal(stage.stored.length, 2);
    });

    it('`entries --write` asks at a terminal, and only a yes approves (S1j)', async () => {
      cli.save({ a: stage.server('a') });
      for (const [typed, count] of [
        ['\n', 0],
        ['y\n', 1],
      ] as const) {
        terminal = new Terminal(cli.commandOf('entries', 'windsurf', '--write'), cli.folder, 100);
        await terminal.until(/(?:Wrote|already there)[^]*Let "a" start\? \[y\]es, \[N\]o: $/);
        terminal.type(typed);
        assert.equal(await terminal.end(), 0, terminal.shown);
        assert.equal(stage.stored.length, count);
        await terminal.close();
      }
    });

    const shell = (line: string): ConstructorParameters<typeof Terminal>[0] => {
      const { command, args, env } = cli.commandOf('tools');
      const tools = [command, ...args].map((word) => `'${word}'`).join(' ');
      return { command: '/bin/bash', args: ['-c', line.replaceAll('TOOLS', tools)], env };
    };

    for (const line of [
      'TOOLS 2>/dev/null | cat',
      'TOOLS </dev/null',
      'TOOLS </dev/null >/dev/null 2>&1',
      "echo '{}' | TOOLS >out 2>err",
    ]) {
      it(`A question comes to the controlling terminal: ${line} (S1l)`, async () => {
        cli.save({ a: stage.server('a') });
        terminal = new Terminal(shell(`${line}; stty -a`), cli.folder, 100);
        await terminal.until(/Let "a" start\? \[y\]es, \[N\]o: $/);
        assert.deepEqual(stage.ran, []);
        terminal.type('y\n');
        await terminal.end();
        assert.match(terminal.shown, /[^-]icanon/, 'the terminal has its mode again');
        assert.deepEqual([stage.ran, stage.storedNames], [['a'], ['a']]);
      });
    }

    it('A job in the background asks nobody and does not stop (S1l)', async () => {
      cli.save({ a: stage.server('a') });
      terminal = new Terminal(shell('set -m; TOOLS & wait $!; echo "exit $?"'), cli.folder, 100);
      await terminal.until(/a waits for approval\. [^]*exit 1/);
      await terminal.end();
      assert.doesNotMatch(terminal.shown, /\[N\]o|Stopped/);
      assert.deepEqual(stage.ran, []);
    });

    it('A terminal that vanishes during a question ends the command, and starts nothing (S1l)', async () => {
      cli.save({ a: stage.server('a') });
      terminal = new Terminal(shell('TOOLS 2>/dev/null'), cli.folder, 100);
      await terminal.until(/Let "a" start\?/);
      await terminal.close();
      await cli.untilGone();
      assert.deepEqual(stage.ran, []);
    });

    it('A long review comes page by page, and the question repeats the name and the command (S1l)', async () => {
      const long = 'x'.repeat(100_000);
      cli.save({ a: stage.server('a', { args: ['-e', `1;${long};2`] }) });
      for (const [key, again] of [
        ['q', false],
        ['\r', true],
      ] as const) {
        terminal = new Terminal(
          shell('stty rows 24 cols 80; TOOLS; echo "exit $?"'),
          cli.folder,
          80,
        );
        let seen = 0;
        for (let at = 0; !/Let "a" start/.test(terminal.shown); at = terminal.shown.length) {
          const { shown } = terminal;
          await terminal.until(new RegExp(`^[^]{${at}}[^]*(?:gives no answer: |\\[N\\]o: )$`));
          const page = terminal.shown.slice(shown.length).split('\r\n');
          assert.ok(page.length <= 25, String(page.length));
          if (/\[N\]o/.test(page.at(-1) ?? '')) break;
          terminal.type(key);
          seen++;
          if (!again) break;
        }
        if (again) {
          assert.ok(seen > 50);
          assert.match(
            terminal.shown,
            /\r\n {2}\| a: \S+ -e "?1;x+\r\n[^]{0,300}more lines above\r\nLet "a" start\? \[y\]es, \[N\]o: $/,
          );
          terminal.type('\n');
        }
        await terminal.until(/exit 1/);
        await terminal.end();
        assert.deepEqual([stage.ran, stage.stored], [[], []]);
        await terminal.close();
      }
    }).timeout(120_000);

    it('An interrupted question starts nothing', async () => {
      cli.save({ a: stage.server('a') });
      terminal = new Terminal(cli.commandOf('status'), cli.folder, 100);
      await terminal.until(/Let "a" start\?/);
      terminal.type('\u0003');
      assert.equal(await terminal.end(), 130);
      assert.deepEqual([stage.ran, stage.stored], [[], []]);
    });
  });
});
