/**
 * P2: the time from a config file to published tools. Beside it, a preloaded bare SDK client starts
 * the same commands in parallel. Each start is a fresh process. Ours has not loaded the engine when
 * its clock begins.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { largest, median, milliseconds, times } from './harness/figures.js';
import { withProgram } from './harness/program.js';
import { limited, plain, ratio, type Findings, type Row } from './harness/report.js';
import type { Run } from './harness/run.js';
import {
  configText,
  everything,
  filesystem,
  memory,
  fixture,
  numbered,
  type ServerEntry,
} from './harness/servers.js';

interface Started {
  readonly loaded: number;
  readonly published: Readonly<Record<string, number>>;
}

export async function start(run: Run): Promise<Findings> {
  const folder = join(run.folder, 'files');
  mkdirSync(folder, { recursive: true });
  const good: ServerEntry[] = [
    { id: 'everything', ...everything },
    { id: 'filesystem', ...filesystem(folder) },
    { id: 'memory', ...memory },
  ].map((entry) => ({ ...entry, more: { transform: [{ prefix: `${entry.id}_` }] } }));
  const bad: ServerEntry[] = [
    { id: 'hanging', ...fixture('never-initialises') },
    { id: 'crashing', ...fixture('exits') },
    { id: 'missing', command: join(folder, 'no-such-program'), args: [] },
  ];
  const product = await run.product();
  const ours = (
    entries: readonly ServerEntry[],
    awaited: readonly ServerEntry[] = good,
  ): Promise<Started> =>
    withProgram(run, 'engine', {}, (engine) =>
      engine.ask<Started>('start', {
        product,
        text: configText(entries),
        publishing: awaited.map(({ id }) => id),
      }),
    );
  const bare = (
    others: readonly ServerEntry[],
    commands: readonly ServerEntry[] = good,
  ): Promise<number> =>
    withProgram(run, 'bareClient', {}, async (client) =>
      largest(await client.ask<number[]>('start', { commands, others })),
    );
  const alone = (entry: ServerEntry): Promise<number> =>
    withProgram(run, 'bareClient', {}, async (client) =>
      largest(await client.ask<number[]>('start', { commands: [entry], others: [] })),
    );

  const took = {
    ours: [] as number[],
    bare: [] as number[],
    oursBeside: [] as number[],
    bareBeside: [] as number[],
  };
  const loads: number[] = [];
  const each: Readonly<Record<string, number>>[] = [];
  await bare([]);
  await ours(good);
  for (let round = 0; round < run.count(15, 5); round++) {
    took.bare.push(await bare([]));
    const started = await ours(good);
    took.ours.push(largest(Object.values(started.published)));
    loads.push(started.loaded);
    each.push(started.published);
    took.bareBeside.push(await bare(bad));
    // The bad ones come first, because no server waits for earlier ones in the file.
    took.oursBeside.push(largest(Object.values((await ours([...bad, ...good])).published)));
  }
  const many: Row[] = [];
  for (const count of [run.count(20, 20, 2), run.count(50, 50, 3)]) {
    const entries = numbered(count);
    const all = { ours: [] as number[], bare: [] as number[] };
    for (let round = 0; round < run.count(5, 2); round++) {
      all.bare.push(await bare([], entries));
      all.ours.push(largest(Object.values((await ours(entries, entries)).published)));
    }
    many.push(
      plain(
        `${count} synthetic servers, all tools published; bare client, all listed`,
        milliseconds(median(all.ours)),
        milliseconds(median(all.bare)),
        times(median(all.ours) / median(all.bare)),
      ),
    );
  }
  const own: string[] = [];
  for (const entry of good) {
    own.push(
      `${entry.id} ${milliseconds(median(each.map((published) => published[entry.id] ?? NaN)))}`,
    );
  }
  const singles: string[] = [];
  for (const entry of good) singles.push(`${entry.id} ${milliseconds(await alone(entry))}`);

  return {
    rule: 'P2',
    title: 'From a config file to published tools: server-everything, -filesystem, -memory',
    rows: [
      ratio(
        'three servers, all tools published; bare client, all listed',
        { ours: median(took.ours), base: median(took.bare) },
        { limit: 1.15, write: milliseconds },
      ),
      limited({
        what: 'three servers, all tools published',
        ours: milliseconds(median(took.ours)),
        value: median(took.ours),
        limit: 2000,
        write: milliseconds,
      }),
      plain('of that, loading the engine', milliseconds(median(loads))),
      ratio(
        'with a hanging, a crashing and a missing server beside them; ours without',
        { ours: median(took.oursBeside), base: median(took.ours) },
        { limit: 1.2, write: milliseconds },
      ),
      plain(
        'with a hanging, a crashing and a missing server beside them; bare client with them',
        milliseconds(median(took.oursBeside)),
        milliseconds(median(took.bareBeside)),
        times(median(took.oursBeside) / median(took.bareBeside)),
      ),
      ...many,
    ],
    notes: [
      `each toolset appears by itself: ${own.join(', ')}; each server alone, once: ${singles.join(', ')}`,
      'ours: the clock begins before the engine is loaded; bare: an SDK client that is loaded already',
    ],
  };
}
