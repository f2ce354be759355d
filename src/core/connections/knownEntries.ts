/**
 * Gives an entry listed again as the same object as before, whichever instance of the server listed it. So facts about
 * an entry are found out once, and comparing lists is fast.
 */
import type { LoopShare } from '../base/turns.js';

/** By server and method: the entries of the last list, by their JSON. */
const listed = new WeakMap<LoopShare, Map<string, ReadonlyMap<string, unknown>>>();

export class KnownEntries<Entry> {
  private readonly before: ReadonlyMap<string, unknown>;
  private readonly now = new Map<string, Entry>();

  constructor(
    private readonly share: LoopShare,
    private readonly method: string,
  ) {
    this.before = listed.get(share)?.get(method) ?? new Map();
  }

  of(entry: unknown, read: (entry: unknown) => Entry): Entry {
    const json = JSON.stringify(entry);
    const known = this.now.get(json) ?? (this.before.get(json) as Entry | undefined) ?? read(entry);
    this.now.set(json, known);
    return known;
  }

  keep(): void {
    const byMethod = listed.get(this.share) ?? new Map<string, ReadonlyMap<string, unknown>>();
    listed.set(this.share, byMethod);
    byMethod.set(this.method, this.now);
  }
}
