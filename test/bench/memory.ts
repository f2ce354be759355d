/**
 * P4: the cost of an idle instance for the host, and the remains of calls. Heap is the memory in
 * use after collection. RSS is read without a collection.
 */
import { median, megabytes } from './harness/figures.js';
import { endpointOf } from './harness/endpoint.js';
import { Program, withProgram } from './harness/program.js';
import { limited, plain, type Findings, type Row } from './harness/report.js';
import type { Run } from './harness/run.js';
import { configText, everything, fixture, numbered } from './harness/servers.js';
import type { Memory } from './harness/usage.js';

const mebibyte = 1024 * 1024;
const exposed = { execArgv: ['--expose-gc'] };
/**
 * The noise of collection and allocator. Less counts as flat. V8's own growth shows in the base
 * too.
 */
const flat = 5 * mebibyte;

export async function memory(run: Run): Promise<Findings> {
  const rows: Row[] = [];
  await idleInstances(run, rows);
  await idleWindows(run, rows);
  const more = run.options.full ? 100_000 : run.count(20_000, 5_000, 100);
  await afterCalls(run, more, rows);
  return {
    rule: 'P4',
    title: 'Memory of the host',
    rows,
    notes: [
      'heap: in use after collection; RSS: as it is, read before anything is collected',
      'calls one after the other; with 8 in flight V8 lets its young generation grow, once',
      `the bare gateway has no sessions, no timers, no status; its client is the SDK’s${run.options.full ? '' : '; --full makes 100,000 calls'}`,
    ],
  };
}

async function heapOf(program: Program): Promise<number> {
  return (await program.ask<Memory>('memory', { collect: true })).heap ?? NaN;
}

async function idleInstances(run: Run, rows: Row[]): Promise<void> {
  const product = await run.product();
  const command = fixture('raw');
  const instances = run.count(20, 20, 2);
  const entries = numbered;
  const ids = (count: number): string[] => entries(count).map(({ id }) => id);
  const servers: number[] = [];
  const leases: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < run.count(3, 1); round++) {
    await withProgram(run, 'engine', exposed, async (engine) => {
      await engine.ask('start', { product, text: configText(entries(1)), publishing: ids(1) });
      const before = await heapOf(engine);
      await engine.ask('edit', {
        text: configText(entries(1 + instances)),
        publishing: ids(1 + instances),
      });
      servers.push(((await heapOf(engine)) - before) / instances);
    });
    await withProgram(run, 'engine', exposed, async (engine) => {
      await engine.ask('start', { product, text: configText(entries(1)), publishing: ids(1) });
      const call = (conversation: string): Promise<unknown> =>
        engine.ask('call', { toolset: 's0', tool: 's0_pid', conversation });
      await call('first');
      const before = await heapOf(engine);
      for (let index = 0; index < instances; index++) await call(`conversation ${index}`);
      leases.push(((await heapOf(engine)) - before) / instances);
    });
    await withProgram(run, 'bareClient', exposed, async (client) => {
      await client.ask('start', { commands: [command] });
      const before = await heapOf(client);
      await client.ask('start', { commands: Array.from({ length: instances }, () => command) });
      bare.push(((await heapOf(client)) - before) / instances);
    });
  }
  for (const [what, values] of [
    [`heap of an idle instance, ${instances} servers of 19 tools, one each`, servers],
    [`heap of an idle instance, ${instances} leases of one server`, leases],
  ] as const) {
    rows.push(
      limited({
        what: `${what}; SDK client`,
        ours: megabytes(median(values)),
        base: megabytes(median(bare)),
        value: median(values),
        limit: 0.3 * mebibyte,
        write: megabytes,
      }),
    );
  }
}

/** The cost of a window before its first call. */
async function idleWindows(run: Run, rows: Row[]): Promise<void> {
  const product = await run.product();
  for (const count of [1, run.count(50, 50, 2)]) {
    const entries = numbered(count);
    const publishing = entries.map(({ id }) => id);
    const ours = await withProgram(run, 'engine', {}, async (engine) => {
      await engine.ask('start', { product, text: configText(entries), publishing });
      return await engine.ask<Memory>('memory', { collect: false });
    });
    const bare = await withProgram(run, 'bareClient', {}, async (client) => {
      await client.ask('start', { commands: entries });
      return await client.ask<Memory>('memory', { collect: false });
    });
    const what = `RSS before the first call, ${count} ${count === 1 ? 'server' : 'servers'}; SDK clients`;
    rows.push(plain(what, megabytes(ours.rss), megabytes(bare.rss)));
  }
}

interface Growth {
  readonly idle: number;
  readonly after: number;
  readonly later: number;
  /** After the same number of calls again, 8 in flight. */
  readonly loaded: number;
  readonly heap: number;
}

async function afterCalls(run: Run, more: number, rows: Row[]): Promise<void> {
  const first = run.count(2_000, 2_000, 100);
  const caller = await Program.start(run, 'caller');
  const engine = await Program.start(run, 'engine', exposed);
  const bare = await Program.start(run, 'bareGateway', exposed);
  try {
    const product = await run.product();
    await engine.ask('start', {
      product,
      text: configText([{ id: 'subject', ...everything }]),
      publishing: ['subject'],
    });
    const endpoint = await endpointOf(engine, 'subject', 'editor');
    await caller.ask('http', { name: 'ours', endpoint, kind: 'node:http' });
    await caller.ask('http', {
      name: 'bare',
      endpoint: await bare.ask('start', everything),
      kind: 'node:http',
    });

    const ours = await grow(caller, engine, 'ours', first, more);
    const base = await grow(caller, bare, 'bare', first, more);
    const count = more.toLocaleString('en-US');
    rows.push(
      plain('RSS, started and idle; bare gateway', megabytes(ours.idle), megabytes(base.idle)),
      limited({
        what: `RSS, more after ${first.toLocaleString('en-US')} calls than the bare gateway`,
        ours: megabytes(ours.after - ours.idle),
        base: megabytes(base.after - base.idle),
        value: ours.after - ours.idle - (base.after - base.idle),
        limit: flat,
        write: megabytes,
      }),
      limited({
        what: `RSS, more over the next ${count} calls than the bare gateway`,
        ours: megabytes(ours.later - ours.after),
        base: megabytes(base.later - base.after),
        value: ours.later - ours.after - (base.later - base.after),
        limit: flat,
        write: megabytes,
      }),
      limited({
        what: `heap, more over the next ${count} calls; bare gateway`,
        ours: megabytes(ours.heap),
        base: megabytes(base.heap),
        value: ours.heap,
        limit: flat,
        write: megabytes,
      }),
      limited({
        what: `RSS, more after ${count} calls again, 8 in flight, than the bare gateway`,
        ours: megabytes(ours.loaded - ours.later),
        base: megabytes(base.loaded - base.later),
        value: ours.loaded - ours.later - (base.loaded - base.later),
        limit: flat,
        write: megabytes,
      }),
    );
  } finally {
    await Promise.all([caller.end(), engine.end(), bare.end()]);
  }
}

async function grow(
  caller: Program,
  gateway: Program,
  way: string,
  first: number,
  more: number,
): Promise<Growth> {
  const call = { way, tool: 'echo', arguments: { message: 'hello' } };
  const rss = async (): Promise<number> =>
    (await gateway.ask<Memory>('memory', { collect: false })).rss;
  const idle = await rss();
  await caller.ask('latency', { ...call, calls: first });
  const after = await rss();
  const before = await heapOf(gateway);
  await caller.ask('latency', { ...call, calls: more });
  const later = await rss();
  const heap = (await heapOf(gateway)) - before;
  await caller.ask('rate', { ...call, calls: more, inFlight: 8 });
  return { idle, after, later, heap, loaded: await rss() };
}
