/**
 * P6: a server killed during a call, the next call after it, and a server added by an edit while
 * another is busy. A cold start is the time of a bare SDK client from the spawn to the list,
 * measured in turn with ours.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { largest, median, milliseconds } from './harness/figures.js';
import { endpointOf } from './harness/endpoint.js';
import { Program } from './harness/program.js';
import { holds, limited, plain, ratio, type Findings, type Row } from './harness/report.js';
import type { Run } from './harness/run.js';
import { now } from './harness/served.js';
import { configText, everything, fixture, type ServerCommand } from './harness/servers.js';

interface Subject {
  readonly name: string;
  readonly command: ServerCommand;
  /** A call without an end until it is interrupted. */
  readonly long: { readonly tool: string; readonly arguments: Readonly<Record<string, number>> };
  readonly short: { readonly tool: string; readonly arguments: Readonly<Record<string, string>> };
}

const subjects: readonly Subject[] = [
  {
    name: 'synthetic server',
    command: fixture('raw'),
    long: { tool: 'quiet', arguments: { ms: 25_000 } },
    short: { tool: 'echo', arguments: { text: 'hello' } },
  },
  {
    name: 'server-everything',
    command: everything,
    long: { tool: 'trigger-long-running-operation', arguments: { duration: 25, steps: 5 } },
    short: { tool: 'echo', arguments: { message: 'hello' } },
  },
];

interface Timed {
  readonly asked: number;
  readonly answered: number;
  readonly answer: {
    readonly isError?: boolean;
    readonly content: readonly { readonly text: string }[];
  };
}

interface InstanceSeen {
  readonly server: string;
  readonly pid: number;
}

export async function death(run: Run): Promise<Findings> {
  const rows: Row[] = [];
  for (const subject of subjects) {
    await killed(run, subject, rows);
    await added(run, subject, rows);
  }
  return {
    rule: 'P6',
    title: 'A killed server, and a server that an edit adds',
    rows,
    notes: [
      'the killed one by SIGKILL under a call from the gateway; cold start: spawn to list by a bare SDK client',
    ],
  };
}

/** Ours and the base, each in a separate process. */
async function withAll(
  run: Run,
  text: string,
  use: (parts: { engine: Program; caller: Program; bare: Program }) => Promise<void>,
): Promise<void> {
  const engine = await Program.start(run, 'engine');
  const caller = await Program.start(run, 'caller');
  const bare = await Program.start(run, 'bareClient');
  try {
    await engine.ask('start', { product: await run.product(), text, publishing: ['subject'] });
    const endpoint = await endpointOf(engine, 'subject', 'editor');
    await caller.ask('http', { name: 'ours', endpoint, kind: 'node:http' });
    await use({ engine, caller, bare });
  } finally {
    await Promise.all([engine.end(), caller.end(), bare.end()]);
  }
}

async function killed(run: Run, subject: Subject, rows: Row[]): Promise<void> {
  const { name, command, long, short } = subject;
  const failing: number[] = [];
  const back: number[] = [];
  const cold: number[] = [];
  let said = '';
  await withAll(
    run,
    configText([{ id: 'subject', ...command }]),
    async ({ engine, caller, bare }) => {
      await bare.ask('start', { commands: [command] });
      for (let round = 0; round < run.count(12, 4); round++) {
        await caller.ask('timed', { way: 'ours', ...short });
        const call = caller.ask<Timed>('timed', { way: 'ours', ...long });
        const pid = await pidOf(engine);
        // The status does not show when a call has reached the server.
        await pause(50);
        const at = now();
        process.kill(pid, 'SIGKILL');
        const { answered, answer } = await call;
        if (answer.isError !== true)
          throw new Error(`The call did not fail: ${JSON.stringify(answer)}`);
        failing.push(answered - at);
        said = answer.content[0]?.text ?? '';
        const next = await caller.ask<Timed>('timed', { way: 'ours', ...short });
        if (next.answer.isError === true)
          throw new Error(`The next call failed: ${JSON.stringify(next.answer)}`);
        back.push(next.answered - next.asked);
        cold.push(largest(await bare.ask<number[]>('start', { commands: [command] })));
      }
    },
  );
  const names = said.includes('subject') && said.includes('SIGKILL');
  rows.push(
    limited({
      what: `${name}: a call in flight fails after the kill`,
      ours: milliseconds(median(failing)),
      value: median(failing),
      limit: 50,
      write: milliseconds,
    }),
    holds(
      `${name}: its text names server and cause`,
      names ? 'yes' : said.slice(0, 60),
      'yes',
      names,
    ),
    ratio(
      `${name}: the next call is answered; cold start`,
      { ours: median(back), base: median(cold) },
      { limit: 1.5, write: milliseconds },
    ),
  );
}

async function added(run: Run, { name, command, short }: Subject, rows: Row[]): Promise<void> {
  const entry = { id: 'subject', ...command };
  const more = { id: 'added', ...command, more: { transform: [{ prefix: 'added_' }] } };
  const there: number[] = [];
  const cold: number[] = [];
  await withAll(run, configText([entry]), async ({ engine, caller, bare }) => {
    await bare.ask('start', { commands: [command] });
    await caller.ask('timed', { way: 'ours', ...short });
    const before = await pidOf(engine);
    await caller.ask('traffic', { way: 'ours', ...short, list: true });
    for (let round = 0; round < run.count(12, 4); round++) {
      const text = configText([entry, more]);
      const { published } = await engine.ask<{ published: Record<string, number> }>('edit', {
        text,
        publishing: ['added'],
      });
      there.push(published['added'] ?? NaN);
      cold.push(largest(await bare.ask<number[]>('start', { commands: [command] })));
      await engine.ask('edit', { text: configText([entry]) });
    }
    const { calls, failures } = await caller.ask<{ calls: number; failures: string[] }>('quiet');
    const same = before === (await pidOf(engine));
    const extra = median(there) - median(cold);
    const found =
      failures.length === 0 ? `none of ${calls}` : `${failures.length} of ${calls}: ${failures[0]}`;
    rows.push(
      plain(
        `${name}: added by an edit, its tools are there; cold start`,
        milliseconds(median(there)),
        milliseconds(median(cold)),
      ),
      limited({
        what: `${name}: added by an edit, more than its cold start`,
        ours: milliseconds(extra),
        value: extra,
        limit: 300,
        write: milliseconds,
      }),
      holds(
        `${name}: calls and lists elsewhere that failed meanwhile`,
        found,
        'none',
        failures.length === 0,
      ),
      holds(`${name}: the other server was restarted`, same ? 'no' : 'yes', 'no', same),
    );
  });
}

async function pidOf(engine: Program): Promise<number> {
  const instances = await engine.ask<InstanceSeen[]>('instances');
  const pid = instances.find(({ server }) => server === 'subject')?.pid;
  if (pid === undefined) throw new Error('No instance of the server lives.');
  return pid;
}
