/**
 * P10: the hold-up of the event loop by one message and by one list, in processor time of its thread. Also the calls
 * of one server beside another that lists 9,000 tools again and again.
 */
import { largest, median, milliseconds } from './harness/figures.js';
import { HttpClient, type Endpoint } from './harness/httpClient.js';
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

async function clientOf(engine: Program, id: string): Promise<HttpClient> {
  const client = new HttpClient(await engine.ask<Endpoint>('endpoint', { id, kind: 'plain' }), 'node:http');
  await client.connect();
  return client;
}

async function messages(run: Run, engine: Program, rows: Row[]): Promise<void> {
  const client = await clientOf(engine, 'bad');
  await client.call('answer', { shape: 'text', mib: 1 });
  for (const [shape, what] of Object.entries(shapes)) {
    for (const mib of sizes) {
      const held: number[] = [];
      for (let round = 0; round < run.count(5, 2); round++) {
        await engine.ask('watchLoop');
        await client.call('answer', { shape, mib });
        held.push(await engine.ask<number>('heldUp'));
      }
      const value = Math.min(...held);
      const ours = `${milliseconds(median(held))} … ${milliseconds(largest(held))}`;
      rows.push(limited({ what: `${what}, ${Math.round(mib)} MiB`, ours, value, limit: limitMs, write: milliseconds }));
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
