/**
 * No process of a server outlives its stop, its removal or the host (X5). After the sudden death of
 * the host it ends within 5 s. The process table of the system is the proof.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { devNull } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { bundled, fixturePath, guardianScript, repository } from '../../support/core/bundles.js';
import { configText, fixture, type Entry, type Servers } from '../../support/core/configText.js';
import { endStages, everyProcessOf, startStage, type Stage } from '../../support/core/stage.js';
import { untilSo, within } from '../../support/core/within.js';
import { posixIt } from '../../support/notHere.js';
import { untilNone, type TestProcess } from '../../support/processes.js';
import { inShell } from '../../support/shells.js';

const shell = (kind?: 'two' | 'withJob'): Entry => ({
  transport: 'stdio',
  ...inShell([process.execPath, fixturePath('raw')], kind),
});
const parent = (...flags: string[]): Entry => fixture('spawns-child', flags);

const trees: Servers = {
  plain: fixture('raw'),
  shell: shell(),
  shell_with_job: shell('withJob'),
  shell_in_shell: shell('two'),
  npx: {
    transport: 'stdio',
    command: 'npx',
    args: ['--offline', '-y', '@modelcontextprotocol/server-memory'],
    env: { npm_config_update_notifier: 'false', MEMORY_FILE_PATH: devNull },
  },
  stubborn: fixture('stubborn'),
  ignores_term: fixture('stubborn', ['--term']),
  child: parent(),
  child_holds: parent('--hold'),
  child_ignores_term: parent('--term', '--hold'),
  child_in_session: parent('--setsid', '--term'),
  orphan: parent('--orphan'),
  orphan_in_session: parent('--orphan', '--setsid', '--term'),
};
/** Trees that end quickly. */
const fewTrees: Servers = {
  shell_with_job: shell('withJob'),
  child_holds: parent('--hold'),
  orphan_in_session: parent('--orphan', '--setsid'),
};

/** Gives each server separate tool names. */
function named(servers: Servers): Servers {
  return Object.fromEntries(
    Object.entries(servers).map(([id, entry]) => [
      id,
      { ...entry, transform: [{ prefix: `${id}_` }] },
    ]),
  );
}

const isGuardian = ({ command }: TestProcess): boolean => command.includes('mcp-toolsets-guardian');

describe('core: process trees', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await startStage();
    symlinkSync(
      path.join(repository, 'node_modules'),
      path.join(stage.folder, 'node_modules'),
      'junction',
    );
  });

  afterEach(endStages);

  const servers = (): TestProcess[] => stage.processes().filter((running) => !isGuardian(running));

  async function start(which: Servers): Promise<void> {
    await stage.edit(named(which));
    // The number of tools is irrelevant here.
    assert.deepEqual(
      stage.problems().filter((problem) => !problem.startsWith('too-many-tools')),
      [],
    );
    assert.equal(stage.toolsets().length, Object.keys(which).length);
    assert.ok(servers().length > Object.keys(which).length, 'there are children');
  }

  it('A reload that removes servers ends all kinds of process trees', async () => {
    await start(trees);
    await stage.edit({});
    await untilNone(servers, 10_000);
  });

  it('A person’s stop ends all process trees', async () => {
    await start(fewTrees);
    await Promise.all(Object.keys(fewTrees).map((id) => stage.host.stop(id)));
    assert.deepEqual(servers(), []);
  });

  it('A changed definition ends all process trees of the old one', async () => {
    await start(fewTrees);
    const before = new Set(servers().map(({ pid }) => pid));
    const changed = Object.keys(fewTrees).map(
      (id) => [id, fixture('raw', ['--name', id])] as const,
    );
    await stage.edit(named(Object.fromEntries(changed)));
    await untilNone(() => servers().filter(({ pid }) => before.has(pid)), 10_000);
    assert.equal(servers().length, changed.length);
  });

  it('The end of the host ends all process trees while calls are in flight', async () => {
    await start(fewTrees);
    const calls = Object.keys(fewTrees).map((id) =>
      stage.failure(id, `${id}_quiet`, { ms: 600_000 }),
    );
    await stage.host.dispose();
    assert.deepEqual(servers(), []);
    for (const text of await Promise.all(calls)) assert.match(text, /result unknown/);
  });

  it('The end of the host ends all process trees that are still starting', async () => {
    void stage.host.setSources([
      {
        file: stage.file,
        folder: stage.folder,
        text: configText({
          ...fewTrees,
          npx: trees['npx'] ?? {},
          never: fixture('never-initialises'),
        }),
      },
    ]);
    await untilSo(() => servers().length > 3, 'servers');
    await stage.host.dispose();
    assert.deepEqual(servers(), []);
  });

  it('A server that exits leaves no child behind', async () => {
    await stage.edit({ a: parent('--leave', '--orphan', '--setsid') });
    await untilNone(servers, 10_000);
    const codes = (): string => stage.host.snapshot.problems.map(({ code }) => code).join();
    await untilSo(
      () => /connection-lost|server-exited|list-failed/.test(codes()),
      'a problem of its end',
    );
  });

  describe('a killed host', () => {
    /** The host in a separate process, after its first message. */
    async function hostProcess(
      config: Servers,
      ...mode: string[]
    ): Promise<{ pid: number; said: unknown }> {
      stage.save(named(config));
      const [script, guardian] = await Promise.all([
        bundled('test/support/core/hostMain.ts'),
        guardianScript(),
      ]);
      const child = spawn(process.execPath, [script, stage.folder, guardian, ...mode], {
        env: stage.env,
        detached: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      assert.ok(child.pid !== undefined);
      const [line] = (await within(
        once(createInterface({ input: child.stdout }), 'line'),
        'the host’s word',
      )) as [string];
      return { pid: child.pid, said: JSON.parse(line) };
    }

    const everything = (): TestProcess[] => everyProcessOf(stage.mark);

    it('Every tree ends within 5 s of a killed host, and the guardian with them', async () => {
      const { pid, said } = await hostProcess(trees);
      assert.deepEqual(said, Object.keys(trees));
      assert.ok(everything().length > Object.keys(trees).length + 2);
      process.kill(pid, 'SIGKILL');
      await untilNone(everything, 5000);
    });

    posixIt('Windows has no process groups')(
      'Every tree ends if the host is killed with its whole process group',
      async () => {
        const { pid } = await hostProcess(fewTrees);
        process.kill(-pid, 'SIGKILL');
        await untilNone(everything, 5000);
      },
    );

    it('Every tree ends if the host is killed while its servers start', async () => {
      const { pid } = await hostProcess(
        { ...fewTrees, npx: trees['npx'] ?? {}, never: fixture('never-initialises') },
        '--at-once',
      );
      await untilSo(() => everything().length > 4, 'processes');
      process.kill(pid, 'SIGKILL');
      await untilNone(everything, 5000);
    });

    it('Every tree ends if the host is killed while it ends them', async () => {
      const { pid } = await hostProcess(
        { ...fewTrees, ignores_term: fixture('stubborn', ['--term']) },
        '--stop',
      );
      process.kill(pid, 'SIGKILL');
      await untilNone(everything, 5000);
    });
  });
});
