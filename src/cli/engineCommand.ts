/** The engine behind `connect` (G6d), which has no terminal and asks nobody, and `mcp-toolsets stop`. */
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock, type Clock } from '../core/base/clock.js';
import type { Disposable } from '../core/base/disposables.js';
import { untilAborted } from '../core/base/events.js';
import { isAlive } from '../core/base/isAlive.js';
import { addressFileOf } from '../core/files/addressFile.js';
import { lock } from '../core/files/fileLock.js';
import { clientNames, engineIsReady, engineProgram, foundGateway, servedBy, tokenFileFor } from './gateways.js';
import { servingGuards } from './keptOffers.js';
import type { Options, Words } from './options.js';
import { complain, print } from './output.js';
import { openEndpoint } from './serveCommand.js';
import { withHost, type Run } from './withHost.js';

/** How long an engine waits for the next client, in milliseconds. */
const lingerMs = 60_000;

/** A stopped engine ends its servers first. Waiting for it ends after this time, in milliseconds. */
const stopLimitMs = 15_000;

export async function engine(run: Run, _: Words, options: Options): Promise<number> {
  const tokenFile = tokenFileFor(run, options);
  const { guards, onClient } = await servingGuards(run.folder, false);
  const unlock = await lock(`${addressFileOf(tokenFile, engineProgram)}.lock`, systemClock);
  try {
    // Of two engines that start at once, the second one leaves.
    if (await foundGateway(tokenFile, [engineProgram])) return print(engineIsReady);
    return await withHost(
      { ...run, asks: false, approve: false },
      async (running) => {
        const visits = running.store.add(new Visits(systemClock, lingerMs));
        const endpoint = await openEndpoint(run, running, {
          port: 0,
          tokenFile,
          program: engineProgram,
          onClient,
          onConnections: (open) => visits.note(open),
        });
        await unlock();
        if (typeof endpoint === 'number') return endpoint;
        running.follow();
        print(engineIsReady);
        await Promise.race([untilAborted(visits.ended), untilAborted(running.signal)]);
        return 0;
      },
      guards,
    );
  } finally {
    await unlock();
  }
}

export class Visits implements Disposable {
  private readonly controller = new AbortController();
  private wait: Disposable | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly lingerMs: number,
  ) {
    this.note(0);
  }

  get ended(): AbortSignal {
    return this.controller.signal;
  }

  note(open: number): void {
    this.wait?.dispose();
    this.wait = open > 0 ? undefined : this.clock.after(this.lingerMs, () => this.controller.abort());
  }

  dispose(): void {
    this.wait?.dispose();
  }
}

export async function stop(run: Run, _: Words, options: Options): Promise<number> {
  const engines = (await servedBy(tokenFileFor(run, options))).filter(({ program }) => program.kind === 'engine');
  if (engines.length === 0) return print('No engine serves this folder.');
  for (const { pid } of engines) process.kill(pid, 'SIGTERM');
  const limit = systemClock.now() + stopLimitMs;
  while (engines.some(({ pid }) => isAlive(pid))) {
    if (systemClock.now() > limit)
      return complain(`The engine (process ${engines.map(({ pid }) => pid).join()}) does not end.`);
    await pause(20);
  }
  return print(engines.map((engine) => `The engine has ended. It served ${clientNames(engine)}.`).join('\n'));
}
