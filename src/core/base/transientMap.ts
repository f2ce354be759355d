/** To copy a small map costs less than the removals before. */
const fewest = 8;

/**
 * For short-lived entries. After many removals, V8 gives a `Map` another table, and old tables stay
 * with their content until a full collection: 5 KB for each call, and a quarter of the gateway's
 * processor time for it (P3, P4).
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

  delete(key: Key): boolean {
    if (!this.map.delete(key)) return false;
    this.removals += 1;
    if (this.removals < fewest || this.removals < this.map.size) return true;
    this.map = this.map.size === 0 ? new Map() : new Map(this.map);
    this.removals = 0;
    return true;
  }

  /** A copy, in the order of arrival, like `values`. */
  keys(): Key[] {
    return [...this.map.keys()];
  }

  values(): Value[] {
    return [...this.map.values()];
  }
}
