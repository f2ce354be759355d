/**
 * P3: the extra time of engine and gateway for a call, beside a bare gateway and, if installed,
 * peers. One client process makes the same calls on every way in turn, and each way has a separate
 * server process. The extra time of a way is its median less the median of the SDK's client on the
 * server itself.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  mean,
  median,
  microseconds,
  milliseconds,
  perSecond,
  quantile,
  times,
} from './harness/figures.js';
import { endpointOf } from './harness/endpoint.js';
import type { ClientKind, Endpoint } from './harness/httpClient.js';
import { startPeers, type Peer, type Peers } from './harness/peers.js';
import { Program } from './harness/program.js';
import { limited, plain, ratio, type Findings, type Row } from './harness/report.js';
import type { Run } from './harness/run.js';
import type { Era } from './harness/sdkClient.js';
import type { Memory } from './harness/usage.js';
import { configText, everything, fixture, type ServerCommand } from './harness/servers.js';

interface Subject {
  readonly name: string;
  readonly command: ServerCommand;
  readonly arguments: Readonly<Record<string, string>>;
  /**
   * The era of its client and of the bare gateway. A modern client has a separate address at ours.
   */
  readonly era: Era;
}

const subjects: readonly Subject[] = [
  {
    name: 'synthetic server',
    command: fixture('raw'),
    arguments: { text: 'hello' },
    era: 'legacy',
  },
  {
    name: 'server-everything',
    command: everything,
    arguments: { message: 'hello' },
    era: 'legacy',
  },
  {
    name: 'client and server of 2026-07-28',
    command: fixture('modern'),
    arguments: { text: 'hello' },
    era: 'modern',
  },
];

/** Factors over the extra time of the bare gateway of the same era. */
const mostAdded = { legacy: 1.15, modern: 1.25 } as const;

const noPeers: Peers = { ready: [], notes: [], end: () => Promise.resolve() };

const ownAddress = '/c/AbcdefghijklmnopqrstuvwxyZ';

const inFlight = 8;
/** The SDK's client itself costs too much for a comparison of peers. */
const kinds: readonly ClientKind[] = ['node:http', 'fetch', 'SDK'];

interface Way {
  readonly name: string;
  readonly gateway: string;
  readonly kind: ClientKind | 'direct';
  readonly tool: string;
  /** The gateway's own process. A peer's process is not measured. */
  readonly process: Program | undefined;
  readonly latencies: number[];
  readonly rates: number[];
  /** Microseconds of processor time of the gateway for each call. */
  cpu: number;
}

interface Gateway {
  readonly gateway: string;
  readonly endpoint: Endpoint;
  /** The published name of `echo`. */
  readonly tool: string;
  readonly process?: Program;
}

function newWay({ gateway, tool, process }: Omit<Gateway, 'endpoint'>, kind: Way['kind']): Way {
  return {
    name: `${gateway} ${kind}`,
    gateway,
    kind,
    tool,
    process,
    latencies: [],
    rates: [],
    cpu: 0,
  };
}

export async function calls(run: Run): Promise<Findings> {
  const rows: Row[] = [];
  const notes: string[] = [
    `client, gateway and server are three processes; "added" is the median less that of the SDK's client on the server's stdio`,
  ];
  for (const subject of subjects) await measure(run, subject, rows, notes);
  await conversations(run, rows);
  return { rule: 'P3', title: 'A call through engine and gateway', rows, notes };
}

async function measure(run: Run, subject: Subject, rows: Row[], notes: string[]): Promise<void> {
  const { command, era } = subject;
  const isModern = era === 'modern';
  const caller = await Program.start(run, 'caller');
  const bare = await Program.start(run, 'bareGateway');
  const engine = await Program.start(run, 'engine');
  // The peers speak the legacy era.
  const peers = isModern ? noPeers : await startPeers(run, command);
  try {
    const product = await run.product();
    await engine.ask('start', {
      product,
      text: configText([{ id: 'subject', ...command }]),
      publishing: ['subject'],
    });
    const road = isModern ? 'agent' : 'editor';
    const { url, headers } = await endpointOf(engine, 'subject', road);
    const ours = { url: isModern ? url + ownAddress : url, headers };
    const gateways: Gateway[] = [
      {
        gateway: 'bare',
        endpoint: await bare.ask<Endpoint>('start', { ...command, era }),
        tool: 'echo',
        process: bare,
      },
      { gateway: 'ours', endpoint: ours, tool: 'echo', process: engine },
      ...peers.ready.map(({ name, endpoint, tool }) => ({ gateway: name, endpoint, tool })),
    ];
    const direct = newWay({ gateway: 'direct', tool: 'echo' }, 'direct');
    await caller.ask('direct', { name: direct.name, era, ...command });
    const ways = [direct];
    for (const gateway of gateways) {
      for (const kind of kinds) {
        if (kind === 'SDK' && (isModern || !gateway.process)) continue;
        const way = newWay(gateway, kind);
        await caller.ask('http', { name: way.name, endpoint: gateway.endpoint, kind, era });
        ways.push(way);
      }
    }
    await exercise(run, caller, ways, subject);
    report(subject, ways, peers.ready, rows);
    if (notes.length === 1) notes.push(...peers.notes);
  } finally {
    await Promise.all([caller.end(), bare.end(), engine.end(), peers.end()]);
  }
}

/** Sessions that call one after the other, all on their shared instance. */
async function conversations(run: Run, rows: Row[]): Promise<void> {
  const command = fixture('raw');
  const entry = { id: 'subject', ...command, more: { 'truely-stateless': true } };
  const caller = await Program.start(run, 'caller');
  const bare = await Program.start(run, 'bareGateway');
  const engine = await Program.start(run, 'engine');
  try {
    await engine.ask('start', {
      product: await run.product(),
      text: configText([entry]),
      publishing: ['subject'],
    });
    const endpoints = {
      ours: await endpointOf(engine, 'subject', 'editor'),
      bare: await bare.ask<Endpoint>('start', command),
    };
    let open = 0;
    for (const count of [1, 10, 100]) {
      for (; open < count; open++) {
        for (const [name, endpoint] of Object.entries(endpoints)) {
          await caller.ask('http', { name: `${name} ${open}`, endpoint, kind: 'node:http' });
        }
      }
      const rates = { ours: [] as number[], bare: [] as number[] };
      const rateOf = (name: string): Promise<number> => {
        const ways = Array.from({ length: count }, (_, index) => `${name} ${index}`);
        const calls = run.count(2000, 500, 100);
        return caller.ask('rateOver', {
          ways,
          tool: 'echo',
          arguments: { text: 'hello' },
          calls,
          inFlight,
        });
      };
      for (let round = 0; round < run.count(10, 4); round++) {
        rates.bare.push(await rateOf('bare'));
        rates.ours.push(await rateOf('ours'));
      }
      rows.push(
        plain(
          `${count} ${count === 1 ? 'conversation' : 'conversations'}, ${inFlight} in flight, node:http client, bare gateway`,
          perSecond(median(rates.ours)),
          perSecond(median(rates.bare)),
          times(median(rates.ours) / median(rates.bare)),
        ),
      );
    }
  } finally {
    await Promise.all([caller.end(), bare.end(), engine.end()]);
  }
}

/**
 * P11: hosts that keep the facts of all calls in a file and their contents in memory, beside the
 * same hosts without the record. Several of each, because V8 compiles the same code better or worse
 * in each process. The record is never switched in between, because code that has seen both takes
 * longer than either.
 */
export async function recordedCalls(run: Run): Promise<Findings> {
  const folder = await mkdtemp(join(tmpdir(), 'record-'));
  const caller = await Program.start(run, 'caller');
  const hosts: RecordingHost[] = [];
  try {
    for (let index = 0; index < run.count(8, 4, 2); index++)
      hosts.push(await startHost(run, caller, folder, index));
    await measureRecord(run, caller, hosts);
    // The first has no record, the second has one.
    const [heapWithout, heapWith] = [
      await growth(run, caller, hosts[0]),
      await growth(run, caller, hosts[1]),
    ];
    // A quarter of the turns is hardly disturbed by other work of the machine, which takes longer
    // than the record.
    const callsOf = (recorded: boolean): number =>
      mean(
        hosts.flatMap(({ isRecorded, turns }) =>
          isRecorded === recorded ? [quantile(turns, 0.25)] : [],
        ),
      );
    const file = mean(hosts.flatMap(({ isRecorded, writes }) => (isRecorded ? writes : [])));
    const rows = [
      ratio(
        'processor time of the gateway a call, with the record of calls, beside without it',
        { ours: callsOf(true) + file, base: callsOf(false) },
        { limit: 1.03, write: microseconds },
      ),
      plain('of it the file, written after 8,000 calls', microseconds(file)),
      limited({
        what: 'heap after 1,000 calls with 100 kB each, with the record of calls, beside without it',
        ours: `${heapWith.toFixed(1)} MiB`,
        base: `${heapWithout.toFixed(1)} MiB`,
        value: heapWith - heapWithout,
        limit: 60,
        bound: 'atMost',
        write: (value) => `${value.toFixed(1)} MiB more`,
      }),
    ];
    const notes = [
      `${hosts.length / 2} processes with the record and as many without it, in turns of ${turn} calls`,
    ];
    return { rule: 'P11', title: 'The record of calls', rows, notes };
  } finally {
    await Promise.all([caller.end(), ...hosts.map(({ engine }) => engine.end())]);
    await rm(folder, { recursive: true });
  }
}

interface RecordingHost {
  readonly name: string;
  readonly engine: Program;
  readonly isRecorded: boolean;
  /** Microseconds of processor time for each call of a turn. */
  readonly turns: number[];
  /** Microseconds of processor time for each call in the file. */
  readonly writes: number[];
}

const turn = 250;
const turnsBeforeWrite = 32;

async function startHost(
  run: Run,
  caller: Program,
  folder: string,
  index: number,
): Promise<RecordingHost> {
  const [isRecorded, name] = [index % 2 === 1, `host ${index}`];
  const engine = await Program.start(run, 'engine', { execArgv: ['--expose-gc'] });
  const entry = { id: 'subject', ...fixture('raw'), more: { 'truely-stateless': true } };
  await engine.ask('start', {
    product: await run.product(),
    text: configText([entry]),
    publishing: ['subject'],
    ...(isRecorded && { record: join(folder, `${index}.jsonl`) }),
  });
  const endpoint = await endpointOf(engine, 'subject', 'editor');
  await caller.ask('http', { name, endpoint, kind: 'node:http', era: 'legacy' });
  const answer = JSON.stringify(
    await caller.ask('once', { ...hello(name), calls: 1, inFlight: 1 }),
  );
  if (!/hello/.test(answer) || /"isError":true/.test(answer))
    throw new Error(`${name} answered ${answer}`);
  return { name, engine, isRecorded, turns: [], writes: [] };
}

function hello(way: string): object {
  return { way, tool: 'echo', arguments: { text: 'hello' } };
}

async function measureRecord(
  run: Run,
  caller: Program,
  hosts: readonly RecordingHost[],
): Promise<void> {
  const callsOf = ({ name }: RecordingHost): Promise<unknown> =>
    caller.ask('rate', { ...hello(name), calls: turn, inFlight });
  for (let round = 0; round < run.count(96, 1); round++)
    for (const host of hosts) await callsOf(host);
  for (const { engine } of hosts) await engine.ask('writeFacts');
  for (let round = 0; round < run.count(8, 1); round++) {
    for (let inRound = 0; inRound < turnsBeforeWrite; inRound++) {
      // The record comes first in every second turn.
      for (const host of inRound % 2 === 0 ? hosts : hosts.toReversed()) {
        const before = await host.engine.ask<number>('cpu');
        await callsOf(host);
        host.turns.push(((await host.engine.ask<number>('cpu')) - before) / turn);
      }
    }
    for (const { engine, isRecorded, writes } of hosts)
      if (isRecorded)
        writes.push((await engine.ask<number>('writeFacts')) / turn / turnsBeforeWrite);
  }
}

/** Mebibytes of heap that more calls than the contents may keep leave behind. */
async function growth(run: Run, caller: Program, host: RecordingHost | undefined): Promise<number> {
  if (!host) return NaN;
  const { engine, name: way } = host;
  const heap = async (): Promise<number> =>
    ((await engine.ask<Memory>('memory', { collect: true }))?.heap ?? NaN) / 2 ** 20;
  const large = { text: 'x'.repeat(100_000) };
  const before = await heap();
  await caller.ask('rate', {
    way,
    tool: 'echo',
    arguments: large,
    calls: run.count(1_000, 400, 10),
    inFlight: 1,
  });
  return (await heap()) - before;
}

async function exercise(
  run: Run,
  caller: Program,
  ways: readonly Way[],
  subject: Subject,
): Promise<void> {
  const [rounds, perRound] = [run.count(60, 12), 50];
  const ask = <T>(method: string, way: Way, calls: number): Promise<T> =>
    caller.ask<T>(method, {
      way: way.name,
      tool: way.tool,
      arguments: subject.arguments,
      calls,
      inFlight,
    });
  for (const way of ways) {
    const answer = JSON.stringify(await ask('once', way, 1));
    if (!/hello/.test(answer) || /"isError":true/.test(answer))
      throw new Error(`${way.name} answered ${answer}`);
  }
  // V8 interprets new code and optimises code after a long run. A gateway of many small functions
  // takes some 8,000 calls.
  await inTurns(ways, run.count(200, 12), (way) => ask('latency', way, perRound));
  await inTurns(ways, rounds, async (way) => {
    way.latencies.push(...(await ask<Float64Array>('latency', way, perRound)));
  });
  await inTurns(ways, run.count(40, 4), (way) => ask('rate', way, 4 * perRound));
  await inTurns(ways, rounds, async (way) => {
    const before = await cpuOf(way);
    way.rates.push(await ask<number>('rate', way, 4 * perRound));
    way.cpu += ((await cpuOf(way)) - before) / (rounds * 4 * perRound);
  });
}

/**
 * Short turns. Another way begins each round, so that other work of the machine affects all ways
 * alike.
 */
async function inTurns(
  ways: readonly Way[],
  rounds: number,
  exercise: (way: Way) => Promise<unknown>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < ways.length; turn++) {
      const way = ways[(turn + round) % ways.length];
      if (way) await exercise(way);
    }
  }
}

async function cpuOf({ process }: Way): Promise<number> {
  return process ? process.ask<number>('cpu') : 0;
}

function report(
  { name: subject, era }: Subject,
  ways: readonly Way[],
  peers: readonly Peer[],
  rows: Row[],
): void {
  const find = (gateway: string, kind: Way['kind']): Way => {
    const way = ways.find((candidate) => candidate.gateway === gateway && candidate.kind === kind);
    if (!way) throw new Error(`There is no way by ${gateway} ${kind}.`);
    return way;
  };
  const directly = find('direct', 'direct');
  rows.push(
    plain(`${subject}: SDK client on its stdio, median`, milliseconds(median(directly.latencies))),
    plain(
      `${subject}: SDK client on its stdio, ${inFlight} in flight`,
      perSecond(median(directly.rates)),
    ),
  );
  for (const kind of kinds.filter((candidate) => ways.some((way) => way.kind === candidate))) {
    const beside = kind === 'SDK' ? [] : peers;
    const ours = find('ours', kind);
    const bare = find('bare', kind);
    const added = (way: Way): number => median(way.latencies) - median(directly.latencies);
    rows.push(
      ratio(
        `${subject}: added at the median, ${kind} client, bare gateway`,
        { ours: added(ours), base: added(bare) },
        { limit: mostAdded[era], write: milliseconds },
      ),
    );
    rows.push(
      ratio(
        `${subject}: processor time of the gateway a call, ${kind} client`,
        { ours: ours.cpu / 1000, base: bare.cpu / 1000 },
        { limit: 1.5, write: milliseconds },
      ),
    );
    const best = beside
      .map(({ name }) => find(name, kind))
      .sort((a, b) => median(b.rates) - median(a.rates))
      .at(0);
    for (const { name } of beside) {
      const peer = find(name, kind);
      rows.push(
        ratio(
          `${subject}: added at the median, ${kind} client, ${name}`,
          { ours: added(ours), base: added(peer) },
          { limit: 1, write: milliseconds },
        ),
      );
    }
    for (const way of [bare, ...beside.map(({ name }) => find(name, kind))]) {
      const what = `${subject}: ${inFlight} in flight, ${kind} client, ${way.gateway === 'bare' ? 'bare gateway' : way.gateway}`;
      const value = median(ours.rates) / median(way.rates);
      const figures = {
        what,
        ours: perSecond(median(ours.rates)),
        base: perSecond(median(way.rates)),
      };
      if (way === best)
        rows.push(limited({ ...figures, value, limit: 1.8, bound: 'atLeast', write: times }));
      else rows.push(plain(figures.what, figures.ours, figures.base, times(value)));
    }
  }
}
