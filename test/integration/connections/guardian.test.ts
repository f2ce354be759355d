/** Rule X5: when the host dies, no process that it started survives 5 s. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { posixIt, suiteNotHere } from '../../support/notHere.js';
import {
  childrenOf,
  isAlive,
  processesWith,
  supported,
  untilNone,
} from '../../support/processes.js';
import { untilSo, work } from '../../support/core/within.js';
import { fixture, http, inShell, repository, Rig, runVariable, servers, stdio } from './rig.js';

const withGuardian = posixIt('Windows ends what is in a job object by itself, without a guardian');
const guardiansHere = process.platform === 'win32' ? 0 : 1;
const hardCases = [
  fixture('raw'),
  fixture('stubborn'),
  fixture('stubborn', '--term'),
  fixture('spawns-child', '--hold', '--term'),
  fixture('spawns-child', '--setsid', '--term'),
  fixture('spawns-child', '--setsid', '--orphan', '--term'),
  inShell('raw'),
  inShell('stubborn', '--term'),
  inShell('spawns-child', '--setsid', '--term'),
  stdio('npx', ['-c', `node ${path.join(servers, 'spawns-child.mjs')} --setsid --term`]),
];

describe('the guardian of server processes (X5)', function () {
  this.timeout(60_000);
  suiteNotHere(this, !supported, 'processes of a test are found on Linux and Windows only');
  let folder: string;
  let guardianScript: string;
  let run: string;
  let host: ChildProcess | undefined;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'guardian-'));
    guardianScript = path.join(folder, 'guardian.js');
    const entry = path.join(repository, 'src/core/processes/guardianMain.ts');
    await work('the bundle of the guardian', () =>
      build({
        entryPoints: [entry],
        outfile: guardianScript,
        bundle: true,
        platform: 'node',
        format: 'cjs',
      }),
    );
  });
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(() => (run = randomUUID()));
  afterEach(async () => {
    host?.kill('SIGKILL');
    await untilNone(() => processesWith(runVariable, run), 5000);
  });

  const marked = () => processesWith(runVariable, run);
  const guardians = () =>
    marked().filter(({ command }) => command.includes('mcp-toolsets-guardian'));

  async function startHost(
    launches: readonly object[],
    script: string | undefined,
    untold = false,
  ): Promise<ChildProcess> {
    const program = path.join(repository, 'test/integration/connections/hostProcess.ts');
    const told = JSON.stringify({ launches, guardianScript: script, untold });
    const child = spawn(process.execPath, ['--import', 'tsx', program, told], {
      cwd: repository,
      env: { ...process.env, [runVariable]: run },
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    host = child;
    assert(child.stdout);
    for await (const line of createInterface({ input: child.stdout })) {
      assert.equal(line, 'ready');
      return child;
    }
    return assert.fail('The host ended');
  }

  for (const [how, script] of [
    ['with Node', () => guardianScript],
    ['with the shell only', () => undefined],
  ] as const) {
    it(`every kind of process tree ends when the host is killed, ${how}`, async () => {
      const child = await startHost(hardCases, script());
      assert.equal(guardians().length, guardiansHere);
      assert(marked().length > hardCases.length + 1);
      child.kill('SIGKILL');
      const took = await untilNone(marked, 5000);
      if (process.env['SHOW_TIMES']) console.log(`      ${took.toFixed(0)} ms`);
    });
  }

  it('servers end when the host exits without a message', async () => {
    const child = await startHost([fixture('stubborn')], guardianScript);
    child.stdin?.write('leave\n');
    await untilNone(marked, 5000);
  });

  withGuardian(
    'the guardian ignores signals to the group of the host, and exits after its last process',
    async () => {
      const child = await startHost([fixture('raw')], guardianScript);
      const [guardian] = guardians();
      assert(guardian && child.pid !== undefined);
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.kill(-child.pid, signal);
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
        process.kill(guardian.pid, signal);
      assert(isAlive(guardian.pid) && isAlive(child.pid));
      assert.notEqual(guardian.session, child.pid);
      child.kill('SIGKILL');
      await untilNone(marked, 5000);
    },
  );

  for (const [how, script] of [
    ['with Node', () => guardianScript],
    ['with the shell only', () => undefined],
  ] as const) {
    withGuardian(`the guardian ends processes that the host never reported, ${how}`, async () => {
      const child = await startHost([fixture('stubborn', '--term')], script(), true);
      assert.equal(guardians().length, 1);
      child.kill('SIGKILL');
      await untilNone(marked, 5000);
    });
  }

  withGuardian('a killed guardian is replaced', async () => {
    const child = await startHost([fixture('stubborn', '--term')], guardianScript);
    const [first] = guardians();
    assert(first);
    process.kill(first.pid, 'SIGKILL');
    // Each check reads the list once, because the first guardian may end between two reads.
    await untilSo(() => guardians().some(({ pid }) => pid !== first.pid), 'another guardian');
    child.kill('SIGKILL');
    await untilNone(marked, 5000);
  });

  withGuardian(
    'a single guardian starts with the first stdio server, and has only its own pipe open',
    async () => {
      const rig = new Rig({ guardianScript });
      const own = () =>
        rig.processes().filter(({ command }) => command.includes('mcp-toolsets-guardian'));
      const web = await rig.listen('http');
      await rig.start(http(web.url));
      assert.equal(own().length, 0);
      await Promise.all([
        rig.start(fixture('raw')),
        rig.start(fixture('raw')),
        rig.start(fixture('raw')),
      ]);
      const [guardian, ...others] = own();
      assert(guardian);
      assert.deepEqual(others, []);
      const files = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => {
        try {
          return readlinkSync(`/proc/${guardian.pid}/fd/${number}`);
        } catch {
          return undefined;
        }
      });
      assert.match(files[0] ?? '', /^(socket|pipe):/);
      assert.deepEqual(files.slice(1, 3), ['/dev/null', '/dev/null']);
      assert.deepEqual(
        files.slice(3).filter((file) => file !== undefined),
        [],
      );
      assert.deepEqual(
        childrenOf(guardian.pid).map(({ command }) => command),
        [],
      );
      await rig.end();
      assert(!isAlive(guardian.pid));
    },
  );

  it('disposal of the connector ends the guardian and every running server', async () => {
    const rig = new Rig({ guardianScript });
    const { connection } = await rig.start(fixture('raw'));
    await connection.close();
    await rig.connector.dispose();
    assert.deepEqual(rig.processes(), []);

    const other = new Rig({ guardianScript });
    const left = await other.start(fixture('stubborn', '--term'));
    await other.connector.dispose();
    assert(left.connection.pid !== undefined);
    assert(!isAlive(left.connection.pid));
    await other.end();
    await rig.end();
  });

  it('disposal of the connector cancels every start in progress', async () => {
    const rig = new Rig({ guardianScript });
    const under = [
      rig.attempt(fixture('never-initialises')),
      rig.attempt(fixture('stubborn', '--term')),
    ];
    await rig.connector.dispose();
    for (const { kind } of await Promise.all(under)) assert.equal(kind, 'cancelled');
    assert.equal((await rig.attempt(fixture('raw'))).kind, 'cancelled');
    assert.deepEqual(rig.processes(), []);
    await rig.end();
  });
});
