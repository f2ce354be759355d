/**
 * P10: the hold-up of the event loop by one message, by many at once and by one list, in processor
 * time of its thread. Also the calls of one server beside another that lists 9,000 tools again and
 * again.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { largest, median, milliseconds } from './harness/figures.js';
import { endpointOf, type EndpointRoad } from './harness/endpoint.js';
import { HttpClient, type Json } from './harness/httpClient.js';
import { Program } from './harness/program.js';
import { limited, ratio, type Findings, type Row } from './harness/report.js';
import type { Run } from './harness/run.js';
import { configText, fixture, type ServerEntry } from './harness/servers.js';

const shapes = {
  text: 'one long text',
  objects: 'many small objects',
  nests: 'deep nesting',
  strings: 'many short strings',
  numbers: 'numbers',
};
/** The last is the limit of an answer, without its frame. */
const sizes = [1, 8, 15.9];
const limitMs = 50;
const shared = { 'truely-stateless': true };
const good: ServerEntry = { id: 'good', ...fixture('raw'), more: shared };

export async function holdups(run: Run): Promise<Findings> {
  const rows: Row[] = [];
  const engine = await Program.start(run, 'engine');
  try {
    const product = await run.product();
    const entries = [good, { id: 'bad', ...fixture('large'), more: shared }];
    await engine.ask('start', { product, text: configText(entries), publishing: ['good', 'bad'] });
    await messages(run, engine, rows);
    await answers(run, engine, rows);
    await floods(run, engine, rows);
    await lists(run, engine, rows);
  } finally {
    await engine.end();
  }
  return {
    rule: 'P10',
    title: 'What one message and one list hold up the event loop for, at a time',
    rows,
    notes: [
      'an answer from its server through engine and gateway to an HTTP client; the least of the rounds, as what others of the machine do is in each',
      'the list changes in every tool each time, and its server says so after each',
    ],
  };
}

async function clientOf(
  engine: Program,
  id: string,
  road: EndpointRoad = 'agent',
  capabilities: Json = {},
) {
  const client = new HttpClient(
    await endpointOf(engine, id, road),
    'node:http',
    'legacy',
    capabilities,
  );
  await client.connect();
  return client;
}

/** Returns the longest hold-up during the work, in each of some rounds. */
async function heldBy(run: Run, engine: Program, work: () => Promise<unknown>): Promise<number[]> {
  const held: number[] = [];
  for (let round = 0; round < run.count(5, 2); round++) {
    await engine.ask('watchLoop');
    await work();
    held.push(await engine.ask<number>('heldUp'));
  }
  return held;
}

function rowOf(what: string, held: readonly number[]): Row {
  const ours = `${milliseconds(median(held))} … ${milliseconds(largest(held))}`;
  return limited({ what, ours, value: Math.min(...held), limit: limitMs, write: milliseconds });
}

async function answers(run: Run, engine: Program, rows: Row[]): Promise<void> {
  for (const road of ['agent', 'editor'] as const) {
    const client = await clientOf(engine, 'bad', road, { roots: {} });
    for (const urls of [false, true]) {
      const held = await heldBy(run, engine, () => client.call('images', { mib: 12, urls }));
      rows.push(
        rowOf(`12 MiB of images${urls ? ' in the alphabet of URLs' : ''}, ${road} client`, held),
      );
    }
    if (road === 'agent') {
      const held = await heldBy(run, engine, () => client.call('burst', { count: 600 }));
      rows.push(rowOf('600 requests for roots at once', held));
    }
    client.close();
  }
}

const floodMs = 3_000;

/** Each is as fast as the pipe or the socket takes it. */
async function floods(run: Run, engine: Program, rows: Row[]): Promise<void> {
  for (const trait of ['requests', 'logs', 'storm']) {
    const overHttp = spawn(process.execPath, fixture('http', '--flood', trait).args, {
      env: run.env,
    });
    const tracked = run.track({ kill: () => overHttp.kill('SIGKILL') });
    const [line] = (await once(createInterface(overHttp.stdout), 'line')) as [string];
    const ofUrl = {
      transport: 'streamable_http',
      url: line.replace('listening ', ''),
      command: undefined,
      args: undefined,
    };
    const bad: readonly ServerEntry[] = [
      { id: 'bad', ...fixture('hostile', trait), more: shared },
      { id: 'bad', command: '', args: [], more: { ...shared, ...ofUrl } },
    ];
    for (const entry of bad) {
      const held = await heldBy(run, engine, async () => {
        const edited = engine.ask('edit', { text: configText([good, entry]) });
        await pause(run.count(floodMs, floodMs / 3, 100));
        await engine.ask('edit', { text: configText([good]) });
        await edited;
      });
      rows.push(rowOf(`a flood of ${trait} over ${entry.command === '' ? 'HTTP' : 'stdio'}`, held));
    }
    overHttp.kill();
    tracked.release();
  }
}

async function messages(run: Run, engine: Program, rows: Row[]): Promise<void> {
  const client = await clientOf(engine, 'bad');
  await client.call('answer', { shape: 'text', mib: 1 });
  for (const [shape, what] of Object.entries(shapes)) {
    for (const mib of sizes) {
      const held = await heldBy(run, engine, () => client.call('answer', { shape, mib }));
      rows.push(rowOf(`${what}, ${Math.round(mib)} MiB`, held));
    }
  }
  client.close();
}

async function lists(run: Run, engine: Program, rows: Row[]): Promise<void> {
  const client = await clientOf(engine, 'good');
  const time = async (): Promise<number> => {
    const times: number[] = [];
    for (let call = 0; call < run.count(1500, 300, 20); call++) {
      const begun = performance.now();
      await client.call('echo', { text: 'x' });
      times.push(performance.now() - begun);
    }
    return median(times);
  };
  const listing = fixture('large', '--tools', '9000', '--changing');
  const alone: number[] = [];
  const beside: number[] = [];
  let held = 0;
  for (let round = 0; round < run.count(3, 1); round++) {
    await engine.ask('edit', { text: configText([good]), publishing: ['good'] });
    alone.push(await time());
    await engine.ask('watchLoop');
    await engine.ask('edit', {
      text: configText([good, { id: 'bad', ...listing, more: shared }]),
      publishing: ['bad'],
    });
    beside.push(await time());
    held = Math.max(held, await engine.ask<number>('heldUp'));
  }
  rows.push(
    limited({
      what: '9,000 tools, listed again and again',
      ours: milliseconds(held),
      value: held,
      limit: limitMs,
      write: milliseconds,
    }),
    ratio(
      'calls of a second server beside it',
      { ours: median(beside), base: median(alone) },
      { limit: 1.5, write: milliseconds },
    ),
  );
  client.close();
}
