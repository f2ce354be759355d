/**
 * A map for what is in flight, whose entries come and go all the time. When a `Map` has had many removals, V8 gives it
 * another table, and the former one leads on to it: as soon as one of them is old, all that followed, with everything that was
 * in them, stay until the whole heap is collected. That was 5 KB of each call, and a quarter of the gateway's processor time
 * for it (P3, P4). Here such a chain ends after as many removals as there are entries.
 */
export class TransientMap<Key, Value> {
  private map = new Map<Key, Value>();
  private removals = 0;

  get size(): number {
    return this.map.size;
  }

  has(key: Key): boolean {
    return this.map.has(key);
  }

  get(key: Key): Value | undefined {
    return this.map.get(key);
  }

  set(key: Key, value: Value): void {
    this.map.set(key, value);
  }

  /** Returns what was under the key. */
  take(key: Key): Value | undefined {
    const value = this.map.get(key);
    this.delete(key);
    return value;
  }

  delete(key: Key): boolean {
    if (!this.map.delete(key)) return false;
    this.removals += 1;
    if (this.removals >= fewest && this.removals >= this.map.size) this.renew();
    return true;
  }

  clear(): void {
    this.map = new Map();
    this.removals = 0;
  }

  /** Returns the keys as they are now, in the order in which they came. */
  keys(): Key[] {
    return [...this.map.keys()];
  }

  /** Returns the values as they are now, in the order in which they came. */
  values(): Value[] {
    return [...this.map.values()];
  }

  private renew(): void {
    this.map = this.map.size === 0 ? new Map() : new Map(this.map);
    this.removals = 0;
  }
}

/** To copy a small map costs less than the removals before. */
const fewest = 8;
