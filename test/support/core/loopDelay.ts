/**
 * Measures how long the event loop was held up, in milliseconds, and how much memory a run took, in MB. Time without
 * a processor does not count.
 */
import { collect } from '../heap.js';
import { threadTime } from './threadTime.js';

const everyMs = 10;

export interface Strain {
  readonly p99: number;
  readonly max: number;
  /** The maximum growth over the start. */
  readonly heapGrown: number;
}

/** In MB, after a collection, buffers included. */
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
  const held: number[] = [];
  let [at, had] = [performance.now(), threadTime()];
  const tick = (): void => {
    most = Math.max(most, used());
    held.push(Math.max(0, Math.min(performance.now() - at - everyMs, threadTime() - had)));
    [at, had] = [performance.now(), threadTime()];
  };
  const sampling = setInterval(tick, everyMs);
  try {
    await work();
  } finally {
    clearInterval(sampling);
  }
  tick();
  held.sort((a, b) => a - b);
  return { p99: held[Math.floor(held.length * 0.99)] ?? 0, max: held.at(-1) ?? 0, heapGrown: most - before };
}
