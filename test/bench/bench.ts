/**
 * `npm run bench`: one table for each rule of speed and size. Each figure of ours is beside a base
 * from the same run, A B A B.
 *
 *   npm run bench -- [--only P2,P3] [--quick | --once] [--full] [--profile FOLDER]
 *
 * --once    one short turn of each, as in `npm test`, to see that each works
 * --quick   fewer rounds, to see that it runs, not for quotes
 * --full    the 100,000 calls of P4
 * --profile CPU profiles of every process but the servers, from a build without minification
 * BENCH_PEERS   a folder with other gateways in its node_modules, measured beside ours
 *
 * A missed target is printed and is not a failure. The exit code is 1 only if a bench itself broke
 * or left a process behind.
 */
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { percent } from './harness/figures.js';
import { print, printSummary, type Findings } from './harness/report.js';
import { Run } from './harness/run.js';
import { activation } from './activation.js';
import { many } from './many.js';
import { memory } from './memory.js';
import { death } from './death.js';
import { start } from './start.js';
import { remembered } from './remembered.js';
import { spare } from './spare.js';
import { stopping } from './stopping.js';
import { calls, recordedCalls } from './calls.js';
import { catalogue } from './catalogue.js';
import { holdups } from './holdups.js';

const benches: Readonly<Record<string, (run: Run) => Promise<Findings>>> = {
  P1: activation,
  P2: start,
  P3: calls,
  P4: memory,
  P5: catalogue,
  P6: death,
  P7: stopping,
  P8: remembered,
  P8B: many,
  P9: spare,
  P10: holdups,
  P11: recordedCalls,
};

/**
 * A share of the machine's processor time. If others take more, the figures are not to be quoted.
 */
const quiet = 0.15;

const longestMs = 15 * 60_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean' },
      once: { type: 'boolean' },
      full: { type: 'boolean' },
      profile: { type: 'string' },
    },
  });
  const chosen = values.only?.toUpperCase().split(',') ?? Object.keys(benches);
  const unknown = chosen.filter((rule) => !(rule in benches));
  if (unknown.length > 0)
    throw new Error(
      `No bench for ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}.`,
    );

  const run = new Run({
    quick: values.quick === true,
    once: values.once === true,
    full: values.full === true,
    profile: values.profile && resolve(values.profile),
  });
  let ending: Promise<number> | undefined;
  const end = (): Promise<number> => (ending ??= cleanUp(run));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void end().then(() => process.exit(130)));
  }

  const { model } = cpus()[0] ?? { model: 'unknown' };
  process.stdout.write(
    `Node ${process.version}, ${cpus().length} × ${model}${values.quick ? ', quick' : ''}\n\n`,
  );
  const all: Findings[] = [];
  let broken = 0;
  for (const rule of chosen) {
    if (ending) return;
    const taken = await takenByOthers();
    const begun = performance.now();
    try {
      const findings = await Promise.race([benches[rule]?.(run), tooLong()]);
      if (!findings) continue;
      const took = `took ${((performance.now() - begun) / 1000).toFixed(0)} s`;
      const busy =
        taken < quiet
          ? []
          : [`the machine was busy: ${percent(taken)} of it was taken before this began`];
      const complete = { ...findings, notes: [...findings.notes, took, ...busy] };
      print(complete);
      all.push(complete);
    } catch (error) {
      if (ending) return;
      broken += 1;
      run.killAll();
      process.stderr.write(
        `${rule}: the bench broke. ${(error as Error).stack ?? String(error)}\n\n`,
      );
    }
  }
  printSummary(all);
  broken += await end();
  process.exitCode = broken > 0 ? 1 : 0;
}

/** The share of the machine's processor time that other programs take while this run is idle. */
async function takenByOthers(): Promise<number> {
  const sum = (): { idle: number; all: number } => {
    const times = cpus().map((cpu) => cpu.times);
    const idle = times.reduce((total, each) => total + each.idle, 0);
    return {
      idle,
      all: times.reduce((total, each) => total + Object.values(each).reduce((a, b) => a + b), 0),
    };
  };
  const before = sum();
  await pause(1000);
  const after = sum();
  return 1 - (after.idle - before.idle) / (after.all - before.all);
}

/** Ends a bench that waits forever. */
async function tooLong(): Promise<never> {
  await pause(longestMs, undefined, { ref: false });
  throw new Error(`It has not ended after ${longestMs / 60_000} minutes.`);
}

/** The number of processes it had to end. */
async function cleanUp(run: Run): Promise<number> {
  const left = await run.end();
  for (const { pid, command } of left)
    process.stderr.write(`Left behind and ended: ${pid} ${command}\n`);
  return left.length;
}

main().catch((error: unknown) => {
  process.stderr.write(`${(error as Error).stack ?? String(error)}\n`);
  process.exitCode = 1;
});
