/** Approval on the command line (S1): shown launches, questions, and starts without a question. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ApprovalStage } from '../../support/core/approvalStage.js';
import type { CommandLine } from '../../support/core/commandLine.js';
import { configText } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';
import { Terminal, terminalsMissing } from '../../support/core/terminal.js';
import { suiteNotHere } from '../../support/notHere.js';

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
      cli.save({ a: stage.server('a', { args: ['-e', `1;${long};2`, '\u001b[2Jowned\u202e'] }), b: stage.server('b') });
      const { code, stdout, stderr } = await cli.run('approve', 'a');
      assert.equal(code, 1);
      assert.match(stderr, /Nothing is approved: .*terminal.*--yes/);
      assert.ok(stdout.replace(/\n\s*… /g, '').includes(`1;${long};2`));
      assert.ok(stdout.includes(process.execPath) && stdout.includes('owned'));
      assert.doesNotMatch(stdout, /[\u001b\u202e]/);
      assert.doesNotMatch(stdout, /\bb {2}·/);
      assert.deepEqual(stage.stored, []);
    });

    it('`approve` approves the named servers or all waiting ones, and reports the rest', async () => {
      cli.save({ a: stage.server('a'), b: stage.server('b'), off: stage.server('off', { enabled: false }) });
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
      cli.save({ a: stage.server('a', { envFile: '.env', env: { API_KEY: secret, X: { env: 'FROM_HOST' } } }) });
      await stage.approve();
      assert.doesNotMatch(readFileSync(cli.approvalsFile, 'utf8'), /canary/);
    });
  });

  it('A command without a terminal starts new servers for its run, and a server changed after its approval waits', async () => {
    cli.save({ a: stage.server('a') });
    assert.match((await cli.run('call', 'a_echo', '{"text":"hello"}')).stdout, /hello/);
    assert.deepEqual(stage.stored, [], 'nothing is kept of it');
    await stage.approve();
    stage.forgetRuns();
    cli.save({ a: stage.server('a', { env: { MORE: '1' } }) });
    const refused = await cli.run('call', 'a_echo', '{"text":"hello"}');
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /^a waits for approval\. Run `mcp-toolsets approve a`, or approve it in the editor\.$/m,
    );
    assert.deepEqual(stage.ran, []);
    assert.match((await cli.run('call', 'a_echo', '{"text":"hello"}', '--approve')).stdout, /hello/);
    assert.equal((await cli.run('connect', 'a', '--approve')).code, 2);
  });

  it('`serve` without a terminal starts the current files, and later changes wait for approval', async () => {
    cli.save({ a: stage.server('a') });
    const serving = await Serving.begin(cli, ['a', 'mcp_admin']);
    try {
      assert.deepEqual([stage.ran, stage.stored], [['a'], []]);
      cli.save({ a: stage.server('a'), b: stage.server('b') });
      await serving.until('b waits for approval');
      assert.deepEqual(stage.ran, ['a']);
      await stage.approve('b');
      await serving.until('b  http');
    } finally {
      await serving.end();
    }
  });

  it('`serve` without a terminal starts only what is approved, as soon as anything is', async () => {
    cli.save({ a: stage.server('a') });
    await stage.approve();
    stage.forgetRuns();
    cli.save({ a: stage.server('a'), b: stage.server('b') });
    const serving = await Serving.begin(cli, ['a']);
    try {
      await serving.until('b waits for approval. Run `mcp-toolsets approve b`');
      assert.deepEqual(stage.ran, ['a']);
    } finally {
      await serving.end();
    }
  });

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
    assert.deepEqual(await stage.namesFor('a', '--hold-changed'), ['a_add', 'a_echo']);
    assert.match((await cli.run('approve', 'a')).stdout, /nothing that was offered has changed/);
  }).timeout(180_000);

  it('Writing entries approves their launches after it has shown them', async () => {
    cli.save({ a: stage.server('a'), off: stage.server('off', { enabled: false }) });
    const shown = await cli.run('entries', 'windsurf');
    assert.match(shown.stderr, /These entries start what you have not approved\.[^]*argument {5}a\n/);
    assert.match(shown.stderr, /Add --write to write it\. The servers above are approved by that too\./);
    assert.deepEqual(stage.stored, []);
    const written = await cli.run('entries', 'windsurf', '--write');
    assert.equal(written.code, 0);
    assert.match(written.stderr, /argument {5}a\n/);
    assert.deepEqual(stage.storedNames, ['a']);
    assert.deepEqual(await stage.namesFor('a'), ['a_echo']);
    cli.save({ a: stage.server('evil') });
    const json = await cli.run('entries', 'windsurf', '--json');
    assert.equal((JSON.parse(json.stdout) as { starts: unknown[] }).starts.length, 1);
    assert.equal(stage.stored.length, 1);
  });

  it('An approval that is not kept, because the home folder leads to the config file, is not reported as given (S1h)', async () => {
    const linked = path.join(cli.folder, 'linked.yaml');
    writeFileSync(linked, configText({ a: stage.server('a') }));
    mkdirSync(path.join(cli.home, '.minds'), { recursive: true });
    symlinkSync(linked, path.join(cli.home, '.minds', 'mcp.yaml'));
    const why = /The approval of "a" holds for this run only: .*approvals\.json.*`mcp-toolsets serve`/;
    for (const args of [
      ['approve', 'a', '--yes'],
      ['entries', 'windsurf', '--write'],
    ]) {
      const { code, stdout, stderr } = await cli.run(...args);
      assert.equal(code, 1);
      assert.match(stderr, why);
      assert.doesNotMatch(stdout + stderr, /Approved|are approved/);
    }
    assert.doesNotMatch((await cli.run('entries', 'windsurf')).stderr, /approved by that too/);
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
