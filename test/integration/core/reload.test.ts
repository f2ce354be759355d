/** Edits of the file with real servers (R1). */
import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { adminId } from '../../../src/core/catalogue/admin.js';
import type { Catalogue } from '../../../src/core/tools/catalogue.js';
import { configText, fixture, rawWith, type Entry } from '../../support/core/configText.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';
import { onSwap } from '../../support/core/testCore.js';
import { isAlive, untilNone } from '../../support/processes.js';

describe('core: reload', () => {
  let stage: Stage;
  let starts: string;

  beforeEach(async () => {
    stage = await startStage();
    starts = path.join(stage.folder, 'starts.txt');
  });

  afterEach(endStages);

  /** A server that records each of its starts. */
  const noting = (tools: string[], rest: Entry = {}): Entry =>
    fixture('raw', ['--tools', tools.join(','), '--starts', starts], rest);

  function started(): number[] {
    return readFileSync(starts, 'utf8').trim().split('\n').map(Number);
  }

  /** The call, with a promise for the moment the server begins it. */
  function slowCall(
    toolset: string,
    ms: number,
    conversation?: string,
  ): { begun: Promise<void>; done: Promise<string> } {
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const options = {
      onProgress: () => begin(),
      ...(conversation !== undefined && { conversation }),
    };
    return { begun, done: stage.text(toolset, 'slow', { ms, steps: ms / 50 }, options) };
  }

  it('A change of filters, transforms and time limits restarts nothing', async () => {
    const tools = ['echo', 'add', 'pid'];
    await stage.edit({ a: noting(tools), b: noting(['count']) });
    const pid = stage.pid('a');
    const { version } = stage.host.catalogue;
    await stage.edit({
      a: noting(tools, {
        tools: { blacklist: ['add'] },
        transform: [{ suffix: '_2' }],
        timeouts: { call: '5s' },
      }),
      b: noting(['count']),
    });
    assert.deepEqual(stage.published(), ['a/echo_2', 'a/pid_2', 'b/count']);
    assert.equal(await stage.text('a', 'pid_2'), String(pid));
    assert.equal(stage.host.catalogue.version, version + 1);
    assert.equal(started().length, 2);
  });

  it('Only servers with a changed launch restart, and the old server serves until the new one has listed', async () => {
    await stage.edit({ a: noting(['echo']), b: noting(['count']) });
    const [oldA, b] = [stage.pid('a'), stage.pid('b')];
    const seen: string[][] = [];
    onSwap(stage.host, () => seen.push(stage.toolsets().map(({ tools }) => String(tools.length))));
    await stage.edit({ a: noting(['echo', 'add']), b: noting(['count']) });
    assert.deepEqual(stage.published(), ['a/echo', 'a/add', 'b/count']);
    assert.deepEqual(seen, [['2', '1']], 'one swap, and never without a toolset');
    assert.equal(stage.pid('b'), b);
    await untilNone(() => stage.processes().filter(({ pid }) => pid === oldA), 5000);
  });

  it('Broken YAML changes no running server, is reported at its place, and disappears after the repair', async () => {
    const good = { a: noting(['echo']), b: noting(['count']) };
    await stage.edit(good);
    const pids = [stage.pid('a'), stage.pid('b')];
    await stage.edit(`${configText(good)}  c: [unclosed\n`);
    assert.deepEqual(stage.published(), ['a/echo', 'b/count']);
    assert.equal(stage.problem('yaml-syntax').severity, 'error');
    assert.deepEqual(
      stage.host.snapshot.refused.map(({ file }) => file),
      [stage.file],
    );
    assert.equal(await stage.text('a', 'echo', { text: 'still here' }), 'still here');
    for (const text of [
      'servers: {}\n',
      'version: 2\nservers: {}\n',
      'version: 1\nservers: []\n',
    ]) {
      await stage.edit(text);
      assert.deepEqual(stage.published(), ['a/echo', 'b/count'], text);
    }
    await stage.edit(good);
    assert.deepEqual(stage.host.snapshot.problems, []);
    assert.deepEqual(stage.host.snapshot.refused, []);
    assert.deepEqual([stage.pid('a'), stage.pid('b')], pids);
    assert.equal(started().length, 2);
  });

  it('A definition that fails to start leaves the last-known-good server, and its status says since when (R3)', async () => {
    await stage.edit({ a: noting(['echo', 'pid']), b: noting(['count']) });
    const pid = stage.pid('a');
    await stage.edit({ a: fixture('exits'), b: noting(['count']), c: rawWith(['add']) });
    assert.deepEqual(
      stage.published(),
      ['a/echo', 'a/pid', 'b/count', 'c/add'],
      'the rest of the edit is applied',
    );
    assert.deepEqual(stage.problems(), ['server-exited "a"']);
    const { state, previous } = stage.server('a');
    assert.equal(state.kind, 'running');
    assert.match(previous?.reason ?? '', /fatal: no configuration found/);
    assert.ok(previous && previous.since <= Date.now() && previous.since > Date.now() - 60_000);
    assert.equal(await stage.text('a', 'pid'), String(pid));
    // Another error keeps the start time of the previous one.
    await stage.edit({
      a: { transport: 'sse', url: 'https://example.com/sse' },
      b: noting(['count']),
      c: rawWith(['add']),
    });
    assert.deepEqual(stage.problems(), ['transport-sse "sse"']);
    assert.equal(stage.server('a').previous?.since, previous.since);
    assert.equal(await stage.text('a', 'pid'), String(pid));
    // The original file again, so nothing starts.
    await stage.edit({ a: noting(['echo', 'pid']), b: noting(['count']), c: rawWith(['add']) });
    assert.deepEqual(stage.host.snapshot.problems, []);
    assert.equal(stage.server('a').previous, undefined);
    assert.equal(stage.pid('a'), pid);
    assert.equal(started().length, 2);
  });

  it('A repaired definition replaces the last-known-good server', async () => {
    await stage.edit({ a: rawWith(['echo']) });
    const old = stage.pid('a');
    await stage.edit({ a: fixture('exits') });
    await stage.edit({ a: rawWith(['echo', 'add']) });
    assert.deepEqual(stage.published(), ['a/echo', 'a/add']);
    assert.deepEqual(stage.host.snapshot.problems, []);
    await untilNone(() => stage.processes().filter(({ pid }) => pid === old), 5000);
  });

  it('An unset variable keeps the server from starting until it is set (C2)', async () => {
    const entry = rawWith(['env'], { env: { TOKEN: { env: 'CORE_TEST_TOKEN' } } });
    await stage.edit({ a: entry, b: rawWith(['echo']) });
    assert.deepEqual(stage.published(), ['b/echo']);
    assert.equal(stage.server('a').state.kind, 'invalid');
    assert.deepEqual(stage.problems(), ['env-unset "env: CORE_TEST_TOKEN"']);
    stage.env['CORE_TEST_TOKEN'] = 'first';
    await stage.host.reload();
    assert.deepEqual(stage.published(), ['a/env', 'b/echo']);
    assert.deepEqual(stage.host.snapshot.problems, []);
    assert.equal(await stage.text('a', 'env', { name: 'TOKEN' }), 'first');
    const b = stage.pid('b');
    // A changed host value counts as a changed server.
    stage.env['CORE_TEST_TOKEN'] = 'second';
    await stage.host.reload();
    assert.equal(await stage.text('a', 'env', { name: 'TOKEN' }), 'second');
    assert.equal(stage.pid('b'), b);
  });

  it('The environment, the folder and the arguments reach the server as written (C2)', async () => {
    const args = ['--starts', starts, 'with space', '"quoted"', '$HOME', '*', 'ä'];
    await stage.edit({
      a: fixture('raw', args, {
        cwd: '.minds',
        env: { MODE: 'ci', EMPTY: '', TMPDIR: '/over/laid' },
      }),
    });
    const values = await Promise.all(
      ['MODE', 'EMPTY', 'TMPDIR', 'PATH'].map((name) => stage.text('a', 'env', { name })),
    );
    assert.deepEqual(values, ['ci', '', '/over/laid', stage.env['PATH']]);
    assert.equal(await stage.text('a', 'cwd'), path.join(stage.folder, '.minds'));
    assert.deepEqual(JSON.parse(await stage.text('a', 'args')), args);
  });

  it('A requested reload reads the current file before any watcher event (R1)', async () => {
    stage.follow();
    stage.save({ a: rawWith(['echo']) });
    await stage.until(({ servers }) => servers.length === 1);
    stage.save({ a: rawWith(['echo']), b: rawWith(['add']) });
    assert.match(await stage.text(adminId, 'mcp_reload'), /^b: running/m);
  });

  it('A deleted file is an empty config, and a restored file is served again (C1)', async () => {
    await stage.edit(undefined);
    assert.deepEqual(stage.host.snapshot.problems, []);
    await stage.edit({ a: rawWith(['echo']) });
    const pid = stage.pid('a');
    await stage.edit(undefined);
    assert.deepEqual(stage.published(), []);
    assert.deepEqual(stage.host.snapshot.servers, []);
    await untilNone(() => stage.processes().filter((running) => running.pid === pid), 5000);
    await stage.edit({ a: rawWith(['echo']) });
    assert.deepEqual(stage.published(), ['a/echo']);
  });

  it('A disabled server is withdrawn, and an enabled one starts', async () => {
    await stage.edit({ a: rawWith(['echo']), b: rawWith(['count'], { enabled: false }) });
    const pid = stage.pid('a');
    assert.deepEqual(stage.published(), ['a/echo']);
    await stage.edit({ a: rawWith(['echo'], { enabled: false }), b: rawWith(['count']) });
    assert.deepEqual(stage.published(), ['b/count']);
    assert.equal(stage.server('a').state.kind, 'disabled');
    await untilNone(() => stage.processes().filter((running) => running.pid === pid), 5000);
  });

  describe('calls in flight (R4)', () => {
    it('A call in flight finishes on the instance of its removed server, and the instance ends with it', async () => {
      await stage.edit({ a: rawWith(['slow']), b: rawWith(['echo']) });
      const pid = stage.pid('a');
      const call = slowCall('a', 500);
      await call.begun;
      await stage.edit({ b: rawWith(['echo']) });
      assert.deepEqual(stage.published(), ['b/echo']);
      assert.equal((await stage.outcome('a', 'slow')).kind, 'error');
      assert.ok(isAlive(pid));
      assert.equal(await call.done, 'done');
      await untilNone(() => stage.processes().filter((running) => running.pid === pid), 5000);
    });

    it('A call in flight finishes on the old instance, and new calls reach the changed server', async () => {
      await stage.edit({ a: rawWith(['slow', 'pid']) });
      const old = stage.pid('a');
      const call = slowCall('a', 600);
      await call.begun;
      await stage.edit({ a: rawWith(['slow', 'pid', 'echo']) });
      const pid = Number(await stage.text('a', 'pid'));
      assert.notEqual(pid, old);
      assert.deepEqual(
        stage.instances('a').map((instance) => [instance.pid, instance.use.kind]),
        [
          [pid, 'leased'],
          [old, 'draining'],
        ],
      );
      assert.equal(await call.done, 'done');
      await untilNone(() => stage.processes().filter((running) => running.pid === old), 5000);
    });

    it('A call in flight fails as result unknown at the drain limit', async () => {
      await stage.dispose();
      stage = await startStage({ drainLimitMs: 100 });
      await stage.edit({ a: fixture('hangs-on-call') });
      const pid = stage.pid('a');
      const call = stage.failure('a', 'hang');
      await stage.edit(undefined);
      assert.match(await call, /result unknown.*the drain limit has passed/);
      await untilNone(() => stage.processes().filter((running) => running.pid === pid), 5000);
    });

    it('Calls in flight end with the host, also on a removed server', async () => {
      const [a, b] = ['a_', 'b_'].map((prefix) =>
        fixture('hangs-on-call', [], { transform: [{ prefix }] }),
      ) as [Entry, Entry];
      await stage.edit({ a, b });
      const calls = [stage.failure('a', 'a_hang'), stage.failure('b', 'b_hang')];
      await stage.edit({ b });
      const begun = performance.now();
      await stage.dispose();
      assert.ok(performance.now() - begun < 10_000, 'it did not wait for the drain limit of 30 s');
      for (const text of await Promise.all(calls)) assert.match(text, /result unknown/);
    });
  });

  describe('quick edits (R1, R2)', () => {
    it('A new filter during a start does not start the server again', async () => {
      const slow = (rest: Entry = {}): Entry =>
        fixture('slow-start', ['--delay', '500', '--starts', starts, '--tools', 'echo,add'], rest);
      const first = stage.edit({ a: slow() });
      await stage.untilState('a', 'starting');
      await stage.edit({ a: slow({ tools: { whitelist: ['add'] } }), b: rawWith(['count']) });
      await first;
      assert.deepEqual(stage.published(), ['a/add', 'b/count']);
      assert.equal(started().length, 1);
    });

    it('A new launch during a start takes over and leaves nothing of the first', async () => {
      const first = stage.edit({
        a: fixture('never-initialises'),
        b: fixture('slow-start', ['--delay', '300']),
      });
      await stage.untilState('a', 'starting');
      await stage.edit({ a: rawWith(['echo']), b: rawWith(['count']) });
      await first;
      assert.deepEqual(stage.published(), ['a/echo', 'b/count']);
      const servers = [stage.pid('a'), stage.pid('b')];
      await untilNone(
        () =>
          stage
            .processes()
            .filter(({ pid, command }) => command.includes('.mjs') && !servers.includes(pid)),
        5000,
      );
    });

    it('A removal during a start leaves nothing of the server', async () => {
      const first = stage.edit({ a: fixture('slow-start', ['--delay', '300']) });
      await stage.untilState('a', 'starting');
      await stage.edit({});
      await first;
      await untilNone(
        () => stage.processes().filter(({ command }) => command.includes('slow-start')),
        5000,
      );
      assert.deepEqual(stage.published(), []);
    });

    it('20 concurrent edits end in the last one', async () => {
      const edits = Array.from({ length: 20 }, (_, n) =>
        stage.edit({
          a: rawWith([`tool_${n}`]),
          ...(n % 2 === 0 && { even: rawWith(['echo']) }),
          ...(n % 3 === 0 && { third: rawWith(['count'], { transform: [{ suffix: `_${n}` }] }) }),
        }),
      );
      await Promise.all(edits);
      assert.deepEqual(stage.published(), ['a/tool_19']);
      assert.deepEqual(stage.host.snapshot.problems, []);
      const pid = stage.pid('a');
      await untilNone(
        () =>
          stage
            .processes()
            .filter((running) => running.command.includes('.mjs') && running.pid !== pid),
        5000,
      );
    });

    it('20 quick saves of every kind end in the last one', async () => {
      stage.save({ a: rawWith(['before']) });
      stage.follow();
      await stage.until(() => stage.published().length > 0, 'the first file');
      for (let n = 0; n < 20; n++) {
        const text = configText({
          a: rawWith([`tool_${n}`]),
          b: rawWith(['echo'], { transform: [{ suffix: `_${n}` }] }),
        });
        if (n % 4 === 0) stage.save(undefined);
        if (n % 4 === 1) stage.save('version: 1\nservers: [');
        if (n % 4 === 2) stage.save(text);
        if (n % 4 === 3) {
          writeFileSync(`${stage.file}.new`, text);
          await renamed(`${stage.file}.new`, stage.file);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      await stage.until(() => stage.published().join() === 'a/tool_19,b/echo_19', 'the last save');
      assert.deepEqual(stage.host.snapshot.problems, []);
      stage.save(undefined);
      await stage.until(({ servers }) => servers.length === 0, 'the deletion');
    });
  });

  describe('names between servers', () => {
    it('Two servers swap a name in one step without a restart', async () => {
      const servers = (a: string, b: string): Record<string, Entry> => ({
        a: rawWith(['echo', 'pid'], { tools: { whitelist: ['pid'] }, transform: [{ prefix: a }] }),
        b: rawWith(['echo', 'pid'], { tools: { whitelist: ['pid'] }, transform: [{ prefix: b }] }),
      });
      await stage.edit(servers('x_', 'y_'));
      const pids = [stage.pid('a'), stage.pid('b')];
      const seen: Catalogue[] = [];
      onSwap(stage.host, (catalogue) => seen.push(catalogue));
      await stage.edit(servers('y_', 'x_'));
      assert.equal(seen.length, 1);
      assert.deepEqual(stage.published(), ['a/y_pid', 'b/x_pid']);
      assert.deepEqual(stage.problems(), []);
      assert.deepEqual(
        [await stage.text('a', 'y_pid'), await stage.text('b', 'x_pid')],
        pids.map(String),
      );
    });

    it('Two servers swap their launches', async () => {
      const one = rawWith(['echo', 'pid']);
      const two = rawWith(['count', 'add']);
      await stage.edit({ a: one, b: two });
      await stage.edit({ a: two, b: one });
      assert.deepEqual(stage.published(), ['a/count', 'a/add', 'b/echo', 'b/pid']);
      assert.deepEqual(stage.host.snapshot.problems, []);
    });

    it('A server with a new id goes on under it', async () => {
      await stage.edit({ a: rawWith(['echo']) });
      await stage.edit({ b: rawWith(['echo']) });
      assert.deepEqual(stage.published(), ['b/echo']);
      assert.equal(await stage.text('b', 'echo', { text: 'hi' }), 'hi');
    });
  });
});

/** Windows cannot replace a file during a read, so programs try again there. */
async function renamed(from: string, to: string): Promise<void> {
  for (;;) {
    try {
      return renameSync(from, to);
    } catch (error) {
      if (process.platform !== 'win32' || (error as NodeJS.ErrnoException).code !== 'EPERM')
        throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
