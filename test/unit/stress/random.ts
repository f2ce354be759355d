/** Random choices with a seed (mulberry32), so that a failure can be repeated. */
export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** In [0, below). */
  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Throws on an empty list. */
  pick<T>(list: readonly T[]): T {
    const index = this.int(list.length);
    if (index >= list.length) throw new Error('nothing to pick from');
    return list[index] as T;
  }

  /** Returns one of the keys, as often as its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let at = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      at -= weight;
      if (at < 0) return key;
    }
    return (entries.at(-1) as [K, number])[0];
  }

  some<T>(list: readonly T[], most: number): T[] {
    const left = [...list];
    const taken: T[] = [];
    for (let count = this.int(most + 1); count > 0 && left.length > 0; count--) {
      taken.push(...left.splice(this.int(left.length), 1));
    }
    return taken;
  }

  shuffled<T>(list: readonly T[]): T[] {
    const left = [...list];
    const mixed: T[] = [];
    while (left.length > 0) mixed.push(...left.splice(this.int(left.length), 1));
    return mixed;
  }
}

/** Takes the seed from the environment, or else from the clock, and prints it. */
export function seedOf(variable: string): number {
  const given = process.env[variable];
  const seed = given === undefined ? Date.now() % 2 ** 31 : Number(given);
  console.log(`      ${variable}=${seed}`);
  return seed;
}

/**
 * The number of random rounds of an adversarial test: two fifths of all. The workflow makes all for
 * each commit of `main`, with `MCP_TOOLSETS_ROUNDS=1`.
 */
export function roundsOf(all: number): number {
  return Math.ceil(all * Number(process.env['MCP_TOOLSETS_ROUNDS'] ?? 0.4));
}
