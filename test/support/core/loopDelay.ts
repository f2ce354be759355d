/**
 * Measures how long the event loop was held up, in milliseconds, and how much memory a run took, in
 * MB. Time without a processor does not count.
 */
import { collect } from '../heap.js';
import { threadTime } from './threadTime.js';

const everyMs = 10;
/**
 * In MB. More garbage is collected before it is measured, because V8 lets it grow to several times
 * the heap on a busy machine, where its own collections are slow.
 */
const mostGarbage = 32;

export interface Strain {
  readonly p99: number;
  readonly max: number;
  /** The maximum growth over the start, with at most 32 MB of garbage. */
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
  /** After the last collection. */
  let live = before;
  const held: number[] = [];
  let [at, had] = [performance.now(), threadTime()];
  const tick = (): void => {
    held.push(Math.max(0, Math.min(performance.now() - at - everyMs, threadTime() - had)));
    let now = used();
    if (now > live + mostGarbage) {
      now = heapNow();
      live = now;
    }
    most = Math.max(most, now);
    // The collection is not of the work.
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
  return {
    p99: held[Math.floor(held.length * 0.99)] ?? 0,
    max: held.at(-1) ?? 0,
    heapGrown: most - before,
  };
}
