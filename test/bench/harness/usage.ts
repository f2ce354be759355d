/** Memory and processor time of the process it runs in. */

export interface Memory {
  /** Bytes. Read before anything is collected. */
  readonly rss: number;
  /** Bytes that are in use after collection; undefined unless asked for. */
  readonly heap: number | undefined;
}

export async function readMemory({ collect }: { collect: boolean }): Promise<Memory> {
  const { rss } = process.memoryUsage();
  if (!collect) return { rss, heap: undefined };
  if (!globalThis.gc) throw new Error('Start it with --expose-gc.');
  for (let turn = 0; turn < 4; turn++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { rss, heap: process.memoryUsage().heapUsed };
}

/** Microseconds since it began. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
