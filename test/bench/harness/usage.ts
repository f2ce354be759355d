/** Memory and processor time of its process. */

export interface Memory {
  /** Bytes, read before any collection. */
  readonly rss: number;
  /** Bytes in use after collection. Undefined unless requested. */
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
