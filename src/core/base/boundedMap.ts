/** A map that forgets: beyond `most` entries, the one that was set longest ago goes. Setting a key again renews it. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  /** @param onLost called with a value that another one pushes out, or takes the place of, when the other is there */
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
