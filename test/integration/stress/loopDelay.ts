/** How long the event loop was held up while something ran, and how much memory it took; in milliseconds and MB. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const resolution = 10;

export interface Strain {
  readonly p99: number;
  readonly max: number;
  /** The most that was seen over what there was before. */
  readonly heapGrown: number;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** In MB, after a collection; buffers included. */
export function heapNow(): number {
  collect();
  return used();
}

function used(): number {
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}

export async function strainOf(work: () => Promise<unknown>): Promise<Strain> {
  const before = heapNow();
  let most = before;
  const sampling = setInterval(() => (most = Math.max(most, used())), 50);
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  try {
    await work();
  } finally {
    delay.disable();
    clearInterval(sampling);
  }
  most = Math.max(most, used());
  // What was waited for anyway is in the histogram too.
  const net = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolution);
  return { p99: net(delay.percentile(99)), max: net(delay.max), heapGrown: most - before };
}
