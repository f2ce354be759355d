/**
 * A map with at most `most` entries. A new entry removes the least recently set one. Setting a key
 * again renews it.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  /** @param onLost called after an entry was pushed out or replaced, with its value */
  constructor(
    private readonly most: number,
    private readonly onLost?: (value: Value) => void,
  ) {
    super();
  }

  override set(key: Key, value: Value): this {
    const before = this.get(key);
    const isAgain = this.delete(key);
    super.set(key, value);
    if (isAgain) this.onLost?.(before as Value);
    for (const [oldest, lost] of this) {
      if (this.size <= this.most) break;
      this.delete(oldest);
      this.onLost?.(lost);
    }
    return this;
  }
}
