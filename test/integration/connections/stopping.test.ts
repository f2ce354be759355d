/** Rules X5, P7: stopping a server ends its whole process tree. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { psTable, readProcessTable } from '../../../src/core/processes/processTable.js';
import { posixIt, suiteNotHere } from '../../support/notHere.js';
import { processOf, supported } from '../../support/processes.js';
import { fixture, inShell, Rig, servers, stdio, textOf } from './rig.js';

const raw = path.join(servers, 'raw.mjs');
const stubborn = path.join(servers, 'stubborn.mjs');

interface Case {
  readonly name: string;
  readonly launch: Parameters<Rig['start']>[0];
  /** The least grace in milliseconds. The bench measures the whole time (P7). */
  readonly atLeast?: number;
  /** True if the tool `child` returns another process that must end. */
  readonly child?: boolean;
}

/** Windows has no TERM, so processes that ignore the end of input are ended at once. */
const bothGraces = process.platform === 'win32' ? 900 : 1800;
const cases: Case[] = [
  { name: 'honours end of input', launch: fixture('raw') },
  { name: 'is made with the SDK', launch: fixture('plain') },
  { name: 'ignores end of input', launch: fixture('stubborn'), atLeast: 900 },
  { name: 'ignores TERM too', launch: fixture('stubborn', '--term'), atLeast: bothGraces },
  { name: 'exits and leaves a child', launch: fixture('spawns-child'), child: true },
  {
    name: 'exits and leaves a child that holds stdio',
    launch: fixture('spawns-child', '--hold'),
    child: true,
  },
  { name: 'has a child that ignores TERM', launch: fixture('spawns-child', '--term'), child: true },
  {
    name: 'has a child in a separate session',
    launch: fixture('spawns-child', '--setsid'),
    child: true,
  },
  {
    name: 'has an orphaned grandchild in a separate session that ignores TERM',
    launch: fixture('spawns-child', '--setsid', '--orphan', '--term'),
    child: true,
  },
  { name: 'is behind a shell', launch: inShell('raw') },
  { name: 'is behind a shell and ignores end of input', launch: inShell('stubborn'), atLeast: 900 },
  {
    name: 'is behind a shell, exits first and leaves a child in a separate session',
    launch: inShell('spawns-child', '--setsid'),
    child: true,
  },
  { name: 'is behind npx', launch: stdio('npx', ['-c', `node ${raw}`]) },
  {
    name: 'is behind npx and ignores end of input and TERM',
    launch: stdio('npx', ['-c', `node ${stubborn} --term`]),
    atLeast: bothGraces,
  },
  {
    name: 'is behind npx, exits first and leaves a child in a separate session',
    launch: stdio('npx', ['-c', `node ${path.join(servers, 'spawns-child.mjs')} --setsid`]),
    child: true,
  },
];

describe('stopping servers (X5)', function () {
  this.timeout(60_000);
  suiteNotHere(this, !supported, 'processes of a test are found on Linux and Windows only');
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.end());

  for (const { name, launch, atLeast, child } of cases) {
    it(`a stop ends a server that ${name}`, async () => {
      const times: number[] = [];
      for (let run = 0; run < (atLeast === undefined ? 3 : 1); run++) {
        const { connection } = await rig.start(launch);
        const left = child ? processOf(Number(await textOf(connection, 'child'))) : undefined;
        assert.equal(left === undefined, !child);
        const begun = performance.now();
        await connection.close();
        times.push(performance.now() - begun);
        if (left) assert.equal(processOf(left.pid)?.command, undefined);
        assert.deepEqual(
          rig.processes().filter(({ command }) => !command.includes('guardian')),
          [],
        );
      }
      const best = Math.min(...times);
      if (process.env['SHOW_TIMES']) console.log(`      ${best.toFixed(0)} ms`);
      assert(best >= (atLeast ?? 0), `took only ${best.toFixed(0)} ms: without the grace`);
    });
  }

  posixIt('on Windows the system keeps the trees')(
    'the process table has the processes of this machine, including this process',
    async () => {
      const [own, byPs] = [await readProcessTable(), await psTable()];
      for (const table of [own, byPs]) assert.equal(table.get(process.pid)?.parent, process.ppid);
      assert.equal(byPs.get(process.pid)?.group, own.get(process.pid)?.group);
    },
  );

  it('processes that an exited server left are ended at once', async () => {
    const { connection } = await rig.start(fixture('spawns-child', '--hold', '--leave'));
    const cause = await new Promise<string>((resolve) => connection.onDidDie(resolve));
    assert.match(cause, /exited with code 0/);
    await connection.close();
    assert.deepEqual(
      rig.processes().filter(({ command }) => !command.includes('guardian')),
      [],
    );
  });

  it('a connection may be closed several times', async () => {
    const { connection } = await rig.start(fixture('stubborn'));
    await Promise.all([connection.close(), connection.close(), connection.close()]);
    await connection.close();
  });

  it('twenty servers are stopped at once', async () => {
    const started = await Promise.all(Array.from({ length: 20 }, () => rig.start(fixture('raw'))));
    await Promise.all(started.map(({ connection }) => connection.close()));
    assert.deepEqual(
      rig.processes().filter(({ command }) => !command.includes('guardian')),
      [],
    );
  });

  it('a cancelled start leaves no processes', async () => {
    for (const launch of [fixture('never-initialises'), fixture('slow-start'), fixture('raw')]) {
      const controller = new AbortController();
      const outcome = rig.attempt(launch, { signal: controller.signal });
      await rig.logged('Started');
      controller.abort();
      assert.equal((await outcome).kind, 'cancelled');
      assert.deepEqual(
        rig.processes().filter(({ command }) => !command.includes('guardian')),
        [],
      );
      rig.lines.length = 0;
    }
    const controller = new AbortController();
    controller.abort();
    assert.equal(
      (await rig.attempt(fixture('raw'), { signal: controller.signal })).kind,
      'cancelled',
    );
  });
});
