/**
 * `npm test` always ends with its line, whatever its tests, their hooks, a lane or the run itself
 * do.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { repository } from '../../support/core/bundles.js';
import { everyProcessOf, runVariable } from '../../support/core/stage.js';
import { untilSo, within } from '../../support/core/within.js';
import { suiteNotHere } from '../../support/notHere.js';
import { untilNone } from '../../support/processes.js';

const mocha = path.join(repository, 'node_modules/mocha/bin/mocha.js');
const reporter = path.join(repository, 'test/support/testRun/reporter.mjs');
const support = path.join(repository, 'test/support/core');
/** Only a sudden end stops it. */
const stubborn = `process.on('SIGTERM', () => {}); console.log('it is deaf'); setInterval(() => {}, 1000)`;

/** A run starts many programs. */
const runLimitMs = 600_000;

describe('the end of `npm test`', function () {
  suiteNotHere(this, process.platform !== 'linux', 'processes of a run are found on Linux only');
  let folder: string;
  let mark: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'run-'));
    mark = path.basename(folder);
  });

  afterEach(async () => {
    await untilNone(() => everyProcessOf(mark), 5000);
    rmSync(folder, { recursive: true });
  });

  const nowOf = (title: string): string => path.join(folder, `${title}.now`);
  const short = (title: string): object => ({ now: nowOf(title) });

  /** A lane of mocha with these tests. They call `now()` to make the limit for silence short. */
  function tests(title: string, text: string, limits: object = {}): object {
    // The loader of TypeScript takes longer than most of these tests.
    const isModule = /\bimport\b/.test(text);
    const file = path.join(folder, `${title}.test.${isModule ? 'ts' : 'cjs'}`);
    const now = `const now = () => require('node:fs').writeFileSync(${JSON.stringify(nowOf(title))}, '');`;
    writeFileSync(file, `${text}\n${now}`);
    return {
      ...limits,
      title,
      args: [
        ...(isModule ? ['--import', 'tsx'] : []),
        ...[mocha, '--timeout', '60000', '--reporter', reporter, file],
      ],
    };
  }

  const program = (title: string, text: string, hasTests = false): object => ({
    title,
    args: ['-e', text],
    hasTests,
  });

  function begin(
    lanes: readonly object[],
    prepare = 'works',
    more: NodeJS.ProcessEnv = {},
  ): ChildProcess {
    const script = path.join(repository, 'test/fixtures/runs/outer.mjs');
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      [runVariable]: mark,
      RUN_NOW: nowOf('run'),
      ...more,
    };
    for (const name of ['JOURNAL', 'LANE', 'RUN']) delete env[`MCP_TOOLSETS_TEST_${name}`];
    return spawn(
      process.execPath,
      [script, prepare, ...lanes.map((lane) => JSON.stringify(lane))],
      { env },
    );
  }

  interface End {
    readonly code: number | null;
    readonly text: string;
    /** The last line. */
    readonly line: string | undefined;
  }

  /** @param until text of the output after which `then` runs */
  async function end(
    child: ChildProcess,
    until?: string,
    then: () => void = () => undefined,
  ): Promise<End> {
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => (text += String(chunk)));
    const closed = once(child, 'close') as Promise<[number | null]>;
    if (until !== undefined) {
      await untilSo(() => text.includes(until), until);
      then();
    }
    const [code] = await within(closed, 'the end of the run', () => text, runLimitMs);
    return { code, text, line: text.trimEnd().split('\n').at(-1) };
  }

  const run = (...lanes: object[]): Promise<End> => end(begin(lanes));

  it('A run whose tests pass ends with exit code 0', async () => {
    const { code, line, text } = await run(
      tests('good', `it('one', () => {}); it('two', () => {}); it('three');`),
      program('check', ''),
    );
    // Each lane counts once more when it is over, and so does the check for leftovers.
    assert.deepEqual([code, line], [0, '6 passed, 0 failed, 1 skipped'], text);
  });

  it('A hook that fails after it started a server costs its tests, and the server ends with the lane', async () => {
    const { code, text, line } = await run(
      tests(
        'hook',
        `import { startNode } from ${JSON.stringify(path.join(support, 'httpServers.ts'))};
         describe('with a server', () => {
           before(() => { startNode(['-e', ${JSON.stringify(stubborn)}], process.env); throw new Error('no build'); });
           it('is never reached', () => {});
         });
         it('goes on', () => {});`,
      ),
    );
    assert.deepEqual([code, line], [1, '3 passed, 2 failed'], text);
    assert.match(text, /"before all" hook.*no build/s);
    assert.match(text, /Left by a test or hook, and ended now:[^]*deaf/);
    assert.doesNotMatch(text, /still ran/);
  });

  it('A lane that stays alive after its last test is described, ended with its processes, and counted', async () => {
    const { code, text, line } = await run(
      tests(
        'alive',
        `import { spawn } from 'node:child_process';
         import { createServer } from 'node:net';
         it('starts', () => {
           createServer().listen(0);
           spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], { detached: true, stdio: 'inherit' });
         });`,
        short('alive'),
      ),
      tests('other', `it('is', () => {});`),
    );
    assert.deepEqual([code, line], [1, '5 passed, 1 failed'], text);
    assert.match(text, /alive still ran 2 s after its last test, and is ended\. What still runs:/);
    assert.match(text, /processes:\n.*mocha[^]*deaf/);
    assert.match(
      text,
      /what keeps its process alive:[^]*ProcessWrap[^]*listens at [^]*process \d+: /,
    );
  });

  it('A test without an end, even with a blocked event loop, costs its lane only, and is named', async () => {
    const { code, text, line } = await run(
      tests(
        'waits',
        `it('before', () => {});
         it('for ever', function () {
           this.timeout(0);
           now();
           return new Promise(() => setInterval(() => {}, 1000));
         });`,
        short('waits'),
      ),
      tests('blocks', `it('turns in circles', () => { now(); for (;;); });`, short('blocks')),
      tests('other', `it('is', () => {});`),
    );
    assert.deepEqual([code, line], [1, '6 passed, 2 failed'], text);
    assert.match(text, /waits made no progress for 2 s[^]*test: for ever, since \d+ s/);
    assert.match(
      text,
      /blocks made no progress for 2 s[^]*test: turns in circles[^]*its event loop does not answer/,
    );
  });

  it('Work is named by the watchdog', async () => {
    const { text, line } = await run(
      tests(
        'works',
        `import { work } from ${JSON.stringify(path.join(support, 'within.ts'))};
         it('builds', () => work('the build of a thing', () => {
           now();
           return new Promise(() => setInterval(() => {}, 1000));
         }));`,
        short('works'),
      ),
    );
    assert.equal(line, '2 passed, 1 failed', text);
    assert.match(text, /work: the build of a thing, since \d+ s/);
  });

  it('A lane that breaks off in any way is a failure, and its tests before that count', async () => {
    const { code, text, line } = await run(
      tests(
        'killed',
        `it('before', () => {}); it('dies', () => process.kill(process.pid, 'SIGKILL'));`,
      ),
      tests('leaves', `it('before', () => {}); it('exits', () => process.exit(0));`),
      tests(
        'torn',
        `import { appendFileSync } from 'node:fs';
        it('tears', () => { appendFileSync(process.env.MCP_TOOLSETS_TEST_JOURNAL, '{"kind":'); process.exit(0); });`,
      ),
      tests('unreadable', `it('is no test`),
      program('check', `process.exit(3)`),
      { title: 'missing', args: ['no such file.js'] },
    );
    // Six lanes are over, two tests passed, and nothing is left.
    assert.deepEqual([code, line], [1, '9 passed, 6 failed'], text);
    assert.match(text, /killed broke off by SIGKILL\n +test: dies/);
    assert.match(text, /leaves broke off with exit code 0\n +test: exits/);
    assert.match(text, /check ended with exit code 3/);
  });

  it('A process that a lane leaves behind is ended, and counts as a failure', async () => {
    const left = `require('node:child_process')
      .spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], { detached: true, stdio: 'ignore' }).unref()`;
    const { code, text, line } = await run({ ...program('check', left), ...short('check') });
    assert.deepEqual([code, line], [1, '3 passed, 1 failed'], text);
    assert.match(text, /check left processes behind\n.*deaf/);
  });

  it('If there is no place for the files of a lane, the run goes on', async () => {
    const lost = {
      title: 'lost',
      args: ['-e', ''],
      hasTests: false,
      temporary: '/dev/null/missing',
    };
    const { code, text, line } = await run(lost);
    assert.equal(code, 1);
    assert.match(text, /lost could not run: ENOTDIR/);
    assert.match(line ?? '', /^1 passed, [1-9]\d* failed$/);
  });

  it('If no temporary file can be made at all, the run ends with its line', async () => {
    const { code, line } = await end(
      begin([program('check', '')], 'works', { TMPDIR: '/dev/null/missing' }),
    );
    assert.deepEqual([code, line], [1, '0 passed, 1 failed']);
  });

  it('A failed installation of the packages ends with the line', async () => {
    const { code, text, line } = await end(begin([], 'fails'));
    assert.deepEqual([code, line], [1, '0 passed, 1 failed']);
    assert.match(text, /The run broke off: npm ci ended with 1/);
  });

  it('If the run itself throws, is killed or hangs, its lanes end and the line is printed', async () => {
    const other = program('other', `console.log('begun'); ${stubborn}`);
    for (const [itself, said] of [
      ['throws', /a mistake in the run/],
      ['dies', /The run broke off: ended by SIGKILL/],
      ['hangs', /The run broke off: it did not report for 15 s/],
    ] as const) {
      const lanes =
        itself === 'throws' ? [{ title: itself, itself }] : [other, { title: itself, itself }];
      const { code, text, line } = await run(...lanes);
      assert.equal(code, 1, text);
      assert.match(text, said);
      assert.match(line ?? '', /^\d+ passed, [1-9]\d* failed$/);
      assert.deepEqual(everyProcessOf(mark), []);
    }
  });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    it(`A run that gets ${signal} ends its lanes, and prints the line`, async () => {
      const child = begin([program('stubborn', stubborn), tests('good', `it('one', () => {});`)]);
      const { code, text, line } = await end(child, 'it is deaf\n', () => {
        // A terminal sends Ctrl-C to all processes in front.
        if (signal !== 'SIGINT') child.kill(signal);
        else
          for (const { pid, command } of everyProcessOf(mark))
            if (/runs/.test(command)) process.kill(pid, signal);
      });
      assert.equal(code, 1, text);
      assert.match(text, new RegExp(`the run was ended by ${signal}`));
      assert.match(line ?? '', /^\d+ passed, [1-9]\d* failed$/);
      assert.deepEqual(everyProcessOf(mark), []);
    });
  }
});
