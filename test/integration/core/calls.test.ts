/** Calls that end without a result, and instances that come and go (X4, L1). */
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fixturePath } from '../../support/core/bundles.js';
import { fixture, rawWith, type Entry } from '../../support/core/configText.js';
import { LeapingClock } from '../../support/core/leapingClock.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';
import { isAlive, untilNone, wasKilled } from '../../support/processes.js';

/** A little more, because times are in milliseconds. */
const fiveMinutes = 5 * 60_000 + 1;

describe('core: calls and instances', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await startStage();
  });

  afterEach(endStages);

  const starts = (): number =>
    stage.logs.lines.filter(({ message }) => message.startsWith('Started ')).length;

  describe('a server that dies (X4)', () => {
    it('A call of a dying server fails as result unknown, is not sent again, and the next call gets a new instance', async () => {
      await stage.edit({ a: fixture('crashes-on-call') });
      const pid = stage.pid('a');
      const text = await stage.failure('a', 'crash');
      assert.match(text, /^Error: result unknown\./);
      assert.match(text, /exited with code 70/);
      assert.match(text, /panic: out of cheese”\. It may or may not/);
      await stage.until(({ problems }) => problems.length === 1, 'the problem');
      assert.deepEqual(stage.problems(), ['connection-lost "a"']);
      assert.equal(starts(), 1, 'nothing starts by itself, and nothing is replayed');
      assert.ok(stage.publishedBy('a').includes('crash'), 'its tools stay');
      const next = Number(await stage.text('a', 'pid'));
      assert.notEqual(next, pid);
      assert.equal(starts(), 2);
      await stage.until(({ problems }) => problems.length === 0, 'no problem');
      assert.equal(stage.server('a').state.kind, 'running');
    });

    it('The death of a server fails every call in flight, and calls of other conversations go on', async () => {
      await stage.edit({ a: fixture('crashes-on-call') });
      const other = stage.text('a', 'slow', { ms: 600, steps: 6 }, { conversation: 'other' });
      await stage.text('a', 'echo', {}, { conversation: 'dying' });
      const calls = ['quiet', 'quiet', 'crash'].map((tool) =>
        stage.failure('a', tool, { ms: 60_000 }, { conversation: 'dying' }),
      );
      for (const text of await Promise.all(calls))
        assert.match(text, /result unknown.*exited with code 70/s);
      assert.equal(await other, 'done');
      assert.equal(starts(), 2);
    });

    it('The death of a server is noticed even if a child holds its output', async () => {
      await stage.edit({ a: fixture('crashes-on-call', ['--hold']) });
      assert.match(await stage.failure('a', 'crash'), /exited with code 70/);
      await untilNone(
        () => stage.processes().filter(({ command }) => command.includes('setInterval')),
        5000,
      );
    });

    it('An idle server that something outside kills is reported, and the next call starts it again', async () => {
      await stage.edit({ a: rawWith(['pid']) });
      process.kill(stage.pid('a'), 'SIGKILL');
      await stage.until(({ problems }) => problems.length === 1, 'the problem');
      assert.ok(stage.problem('connection-lost').message.endsWith(wasKilled));
      assert.deepEqual(stage.published(), ['a/pid']);
      assert.ok(isAlive(Number(await stage.text('a', 'pid'))));
      await stage.until(({ problems }) => problems.length === 0, 'no problem');
    });

    it('The death of a shared instance fails each call once, and the next calls start one new instance', async () => {
      await stage.edit({ a: fixture('crashes-on-call', [], { 'truely-stateless': true }) });
      const conversations = ['one', 'two', 'three'];
      const waiting = conversations.map((conversation) =>
        stage.failure('a', 'quiet', { ms: 60_000 }, { conversation }),
      );
      await stage.failure('a', 'crash');
      for (const text of await Promise.all(waiting)) assert.match(text, /result unknown/);
      const pids = await Promise.all(
        conversations.map((conversation) => stage.text('a', 'pid', {}, { conversation })),
      );
      assert.equal(new Set(pids).size, 1);
      assert.equal(starts(), 2);
    });

    it('A dead server that fails to start again says why, keeps its tools, and works after the repair', async () => {
      const folder = path.join(stage.folder, 'server');
      cpSync(path.dirname(fixturePath('raw')), folder, { recursive: true });
      const script = path.join(folder, 'raw.mjs');
      await stage.edit({
        a: {
          transport: 'stdio',
          command: process.execPath,
          args: [script, '--tools', 'echo,exit'],
        },
      });
      rmSync(script);
      await stage.failure('a', 'exit');
      const text = await stage.failure('a', 'echo');
      assert.match(text, /"echo" was not called: the server .*Node did not find/s);
      await stage.untilState('a', 'failed');
      assert.deepEqual(stage.problems(), ['server-exited "a"']);
      assert.deepEqual(stage.published(), ['a/echo', 'a/exit']);
      copyFileSync(fixturePath('raw'), script);
      assert.equal(await stage.text('a', 'echo', { text: 'again' }), 'again');
      await stage.until(({ problems }) => problems.length === 0, 'no problem');
    });
  });

  describe('time limits and cancelling (X6)', () => {
    const limited = (timeouts: Entry): Entry => fixture('hangs-on-call', [], { timeouts });

    it('A call without a sign of life for `call` is cancelled at the server, and the instance goes on', async () => {
      await stage.edit({ a: limited({ call: '300ms' }) });
      const pid = await stage.text('a', 'pid');
      assert.match(await stage.failure('a', 'hang'), /gave no sign of life for 0\.3 s/);
      await stage.logs.until(
        ({ message }) => message.includes('cancelled hang'),
        'the server to hear of it',
      );
      assert.equal(await stage.text('a', 'pid'), pid);
      assert.deepEqual(stage.problems(), []);
    });

    it('Progress is a sign of life, and `callMax` still ends the call', async () => {
      await stage.edit({ a: limited({ call: '1200ms' }) });
      assert.equal(await stage.text('a', 'slow', { ms: 1800, steps: 18 }), 'done');
      await stage.edit({ a: limited({ call: '1200ms', callMax: '1500ms' }) });
      let signs = 0;
      const onProgress = (): void => void signs++;
      assert.match(
        await stage.failure('a', 'trickle', {}, { onProgress }),
        /took longer than 1\.5 s/,
      );
      assert.ok(signs > 3, `${signs} signs of life`);
    });

    it('New time limits apply from the next call on, without a restart', async () => {
      await stage.edit({ a: limited({}) });
      const pid = stage.pid('a');
      await stage.edit({ a: limited({ call: '200ms' }) });
      assert.match(await stage.failure('a', 'hang'), /0\.2 s/);
      assert.equal(stage.pid('a'), pid);
    });

    it('A cancelled call ends at once even if the server never answers', async () => {
      await stage.edit({ a: limited({}) });
      const cancel = new AbortController();
      const call = stage.outcome('a', 'hang', {}, { signal: cancel.signal });
      const beside = stage.text('a', 'echo', { text: 'beside' });
      assert.equal(await beside, 'beside');
      cancel.abort();
      assert.deepEqual(await call, { kind: 'cancelled' });
      await stage.logs.until(
        ({ message }) => message.includes('cancelled hang'),
        'the server to hear of it',
      );
    });

    it('A call that is cancelled during a start does not wait and is not sent', async () => {
      await stage.edit({ a: fixture('slow-start', ['--delay', '400', '--tools', 'count']) });
      await stage.text('a', 'count', {}, { conversation: 'holds the warm one' });
      const cancel = new AbortController();
      const call = stage.outcome('a', 'count', {}, { conversation: 'new', signal: cancel.signal });
      cancel.abort();
      assert.deepEqual(await call, { kind: 'cancelled' });
      assert.equal(await stage.text('a', 'count', {}, { conversation: 'new' }), '1');
      assert.equal(starts(), 2);
    });

    it('A call with an aborted signal is never sent', async () => {
      await stage.edit({ a: rawWith(['count']) });
      assert.deepEqual(await stage.outcome('a', 'count', {}, { signal: AbortSignal.abort() }), {
        kind: 'cancelled',
      });
      assert.equal(await stage.text('a', 'count'), '1');
    });
  });

  describe('results of calls', () => {
    it('Results arrive whole, also large ones, and errors stay errors', async () => {
      await stage.edit({ a: fixture('raw') });
      assert.equal((await stage.text('a', 'large', { bytes: 5_000_000 })).length, 5_000_000);
      const { content } = await stage.result('a', 'content');
      assert.deepEqual(
        content.map(({ type }) => type),
        ['text', 'image', 'audio', 'resource', 'resource', 'resource_link'],
      );
      assert.equal(await stage.failure('a', 'fail', { text: 'no disk' }), 'no disk');
      assert.deepEqual(
        await stage.outcome('a', 'throw', { code: -32042, text: 'no', data: { why: 1 } }),
        {
          kind: 'error',
          code: -32042,
          message: 'no',
          data: { why: 1 },
        },
      );
    });

    it('A hundred concurrent calls on one instance each get their own result', async () => {
      await stage.edit({ a: fixture('raw') });
      const sums = Array.from({ length: 100 }, (_, n) => stage.text('a', 'add', { a: n, b: 1 }));
      assert.deepEqual(
        await Promise.all(sums),
        Array.from({ length: 100 }, (_, n) => String(n + 1)),
      );
      assert.equal(stage.instances('a').length, 1);
    });

    it('A call without an answer says that its answer came beside other text (X1a)', async () => {
      const prefix = `const { stdout } = process, write = stdout.write.bind(stdout); stdout.write = (text, ...rest) => write(String(text).includes('"content"') ? 'log: ' + text : text, ...rest);`;
      await stage.edit({
        a: {
          transport: 'stdio',
          command: process.execPath,
          args: ['--import', `data:text/javascript,${encodeURIComponent(prefix)}`].concat(
            fixturePath('raw'),
            '--tools',
            'echo',
          ),
          timeouts: { call: '1s' },
        },
      });
      const said = await stage.failure('a', 'echo', { text: 'x' });
      assert.match(said, /timeouts\.call[^]*It wrote an answer beside other text on the same line/);
    });

    it('Logs of the server, from stderr and from messages, reach its log', async () => {
      await stage.edit({ a: fixture('noisy-stdout') });
      await stage.text('a', 'stderr', { text: 'a line on stderr' });
      await stage.text('a', 'log', { level: 'warning', text: 'a warning' });
      await stage.logs.until(
        ({ server, message }) => server === 'a' && message.includes('a line on stderr'),
        'stderr',
      );
      const warning = await stage.logs.until(
        ({ message }) => message.includes('a warning'),
        'the message',
      );
      assert.equal(warning.level, 'warn');
      assert.match(stage.logs.text('a'), /not JSON-RPC: Starting the server/);
    });
  });

  describe('instances (L2)', () => {
    const gone = (pid: number): Promise<number> =>
      untilNone(() => stage.processes().filter((running) => running.pid === pid), 5000);

    it('The idle limit stops an instance, keeps its tools, and the next call starts it', async () => {
      await stage.edit({ a: rawWith(['pid'], { timeouts: { idle: '200ms' } }) });
      await stage.untilState('a', 'idle');
      assert.deepEqual(stage.published(), ['a/pid']);
      assert.deepEqual(
        stage.processes().filter(({ command }) => command.includes('raw.mjs')),
        [],
      );
      assert.ok(Number(await stage.text('a', 'pid')) > 0);
      await stage.untilState('a', 'idle');
      assert.deepEqual(stage.problems(), []);
    });

    it('A person can release, stop, start and restart an instance', async () => {
      await stage.edit({ a: rawWith(['count', 'pid']), b: rawWith(['echo']) });
      const first = Number(await stage.text('a', 'pid', {}, { conversation: 'one' }));
      assert.equal(await stage.host.release('a', 'one'), true);
      await gone(first);
      assert.equal(await stage.host.release('a', 'one'), false);
      assert.equal(await stage.text('a', 'count', {}, { conversation: 'one' }), '1');
      await stage.text('a', 'count', {}, { conversation: 'two' });
      const pids = stage.instances('a').map(({ pid }) => pid ?? 0);
      assert.equal(pids.length, 2);

      await stage.host.stop('a');
      await Promise.all(pids.map(gone));
      await stage.untilState('a', 'stopped');
      assert.deepEqual(stage.published(), ['b/echo']);
      await stage.host.reload();
      assert.deepEqual(stage.published(), ['b/echo'], 'it stays stopped');
      await stage.host.start('a');
      await stage.untilState('a', 'running');
      assert.deepEqual(stage.published(), ['a/count', 'a/pid', 'b/echo']);
      const started = stage.pid('a');
      await stage.host.restart('a');
      await gone(started);
      assert.notEqual(stage.pid('a'), started);
      assert.equal(await stage.text('a', 'count'), '1');
    });

    it('A shared or warm instance restarts after its death, and a leased one does not (X4)', async () => {
      const named = (prefix: string, rest: Entry = {}): Entry =>
        rawWith(['pid'], { transform: [{ prefix }], ...rest });
      await stage.edit({
        warm: named('w_'),
        shared: named('s_', { 'truely-stateless': true }),
        leased: named('l_'),
        removed: named('r_'),
      });
      await stage.text('leased', 'l_pid');
      const ids = ['warm', 'shared', 'leased', 'removed'];
      const pids = ids.map((id) => stage.pid(id));
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await Promise.all(
        ['warm', 'shared', 'removed'].map((id) => stage.untilState(id, 'reconnecting')),
      );
      await stage.untilState('leased', 'idle');
      await stage.edit({
        warm: named('w_'),
        shared: named('s_', { 'truely-stateless': true }),
        leased: named('l_'),
      });
      await Promise.all(['warm', 'shared'].map((id) => stage.untilState(id, 'running')));
      assert.equal(stage.server('leased').state.kind, 'idle');
      assert.equal(starts(), 4 + 2, 'and one that was removed meanwhile does not either');
      assert.deepEqual(stage.published(), ['warm/w_pid', 'shared/s_pid', 'leased/l_pid']);
    });

    it('Beyond the limit the longest idle instance ends, and a call in flight never does (L2b)', async () => {
      await stage.dispose();
      const clock = new LeapingClock();
      stage = await startStage({ clock, maxInstances: 2 });
      await stage.edit({
        a: fixture('hangs-on-call', [], { timeouts: { call: '60m', callMax: '60m' } }),
      });
      const cancel = new AbortController();
      const count = (conversation: string): Promise<string> =>
        stage.text('a', 'count', {}, { conversation });
      assert.equal(await count('one'), '1');
      const busy = stage.outcome('a', 'hang', {}, { conversation: 'one', signal: cancel.signal });
      assert.equal(await count('two'), '1');
      clock.leap(fiveMinutes);
      assert.equal(await count('three'), '1', 'in the place of two');
      clock.leap(fiveMinutes);
      assert.equal(await count('two'), '1', 'a new one, in the place of three');
      const alsoBusy = stage.outcome(
        'a',
        'hang',
        {},
        { conversation: 'two', signal: cancel.signal },
      );
      assert.match(
        await stage.failure('a', 'count', {}, { conversation: 'four' }),
        /did not start.*2/s,
      );
      assert.equal(
        stage.processes().filter(({ command }) => command.includes('hangs-on-call')).length,
        2,
      );
      cancel.abort();
      await Promise.all([busy, alsoBusy]);
      clock.leap(fiveMinutes);
      assert.equal(await count('four'), '1');
    });

    it('A restart fails running calls as result unknown and says who restarted', async () => {
      await stage.edit({ a: fixture('hangs-on-call') });
      const call = stage.failure('a', 'hang');
      await stage.host.restart('a');
      assert.match(await call, /result unknown.*a person restarted it/);
      assert.equal(stage.server('a').state.kind, 'running');
    });
  });
});
