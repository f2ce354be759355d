/**
 * P8: the time from a config file to published tools in the second window of a workspace. The first
 * window, with starts of the same servers, is beside it. Also the cost of servers that start with
 * their first call. Each window is a fresh process.
 */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { largest, median, megabytes, milliseconds } from './harness/figures.js';
import { withProgram } from './harness/program.js';
import { holds, limited, plain, ratio, type Findings, type Row } from './harness/report.js';
import type { Run } from './harness/run.js';
import {
  configText,
  everything,
  filesystem,
  memory,
  numbered,
  type ServerEntry,
} from './harness/servers.js';
import type { Memory } from './harness/usage.js';

const mebibyte = 1024 * 1024;
const exposed = { execArgv: ['--expose-gc'] };

interface Started {
  readonly published: Readonly<Record<string, number>>;
}

export async function remembered(run: Run): Promise<Findings> {
  const folder = join(run.folder, 'files');
  mkdirSync(folder, { recursive: true });
  const three: ServerEntry[] = [
    { id: 'everything', ...everything },
    { id: 'filesystem', ...filesystem(folder) },
    { id: 'memory', ...memory },
  ].map((entry) => ({ ...entry, more: { transform: [{ prefix: `${entry.id}_` }] } }));
  const rows: Row[] = [];
  await windows(run, 'three servers', three, run.count(9, 3), rows);
  const many = run.count(20, 20, 4);
  await windows(run, `${many} servers`, numbered(many), run.count(5, 2), rows);
  await untilCalled(run, rows);
  return {
    rule: 'P8',
    title: 'The second window of a workspace',
    rows,
    notes: [
      'until all tools are published; the clock begins before the engine is loaded, and reading what was listed is part of it',
      'the editor lists what is published by itself, as soon as it is told',
    ],
  };
}

/** Resolves when the window has ended. */
function openWindow<T>(
  run: Run,
  entries: readonly ServerEntry[],
  kept: string,
  use: (started: Started, ask: <A>(method: string, params?: unknown) => Promise<A>) => Promise<T>,
): Promise<T> {
  return withProgram(run, 'engine', exposed, async (engine) => {
    const publishing = entries.map(({ id }) => id);
    const product = await run.product();
    const started = await engine.ask<Started>('start', {
      product,
      text: configText(entries),
      publishing,
      kept,
    });
    return await use(started, (method, params) => engine.ask(method, params));
  });
}

const untilAll = (started: Started): Promise<number> =>
  Promise.resolve(largest(Object.values(started.published)));

async function windows(
  run: Run,
  what: string,
  entries: readonly ServerEntry[],
  rounds: number,
  rows: Row[],
): Promise<void> {
  const first: number[] = [];
  const second: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const kept = mkdtempSync(join(run.folder, 'listed-'));
    first.push(await openWindow(run, entries, kept, untilAll));
    second.push(await openWindow(run, entries, kept, untilAll));
  }
  rows.push(
    ratio(
      `${what}, all tools published; in the first window, where they had to start`,
      { ours: median(second), base: median(first) },
      { limit: 0.2, write: milliseconds },
    ),
  );
}

async function untilCalled(run: Run, rows: Row[]): Promise<void> {
  const kept = mkdtempSync(join(run.folder, 'listed-'));
  const entries = (count: number): ServerEntry[] => numbered(count, { start: 'call' });
  const servers = 10;
  await openWindow(run, entries(1 + servers), kept, untilAll);
  const heapOf = (count: number): Promise<{ heap: number; processes: number }> =>
    openWindow(run, entries(count), kept, async (_, ask) => {
      const { length: processes } = await ask<unknown[]>('instances');
      return { heap: (await ask<Memory>('memory', { collect: true })).heap ?? NaN, processes };
    });
  const growth: number[] = [];
  let processes = 0;
  for (let round = 0; round < run.count(5, 2); round++) {
    const one = await heapOf(1);
    const all = await heapOf(1 + servers);
    growth.push(all.heap - one.heap);
    processes = Math.max(processes, all.processes);
  }
  rows.push(
    holds(
      `${servers} servers with \`start: call\`, processes before a call`,
      String(processes),
      '0',
      processes === 0,
    ),
    limited({
      what: `${servers} servers with \`start: call\`, heap before a call`,
      ours: megabytes(median(growth)),
      value: median(growth),
      limit: mebibyte,
      write: megabytes,
    }),
  );
  const call = { toolset: 's0', tool: 's0_pid', conversation: 'first' };
  const took = await openWindow(run, entries(1), kept, (_, ask) => ask<number>('timedCall', call));
  rows.push(plain('the first call, which starts its server', milliseconds(took)));
}
