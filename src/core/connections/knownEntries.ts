/**
 * Gives an entry that a server lists again as the object that it was before. So whatever was found out of an entry is found
 * out once, and who compares lists sees at once what is the same, whichever instance of the server listed it.
 */
import type { LoopShare } from '../base/turns.js';

/** By server and method: the entries of the last list, by their JSON. */
const listed = new WeakMap<LoopShare, Map<string, ReadonlyMap<string, unknown>>>();

export class KnownEntries<Entry> {
  private readonly before: ReadonlyMap<string, unknown>;
  private readonly now = new Map<string, Entry>();

  /** @param share that of the server */
  constructor(
    private readonly share: LoopShare,
    private readonly method: string,
  ) {
    this.before = listed.get(share)?.get(method) ?? new Map();
  }

  /** @param read makes of what is not known what is kept of it */
  of(entry: unknown, read: (entry: unknown) => Entry): Entry {
    const json = JSON.stringify(entry);
    const known = this.now.get(json) ?? (this.before.get(json) as Entry | undefined) ?? read(entry);
    this.now.set(json, known);
    return known;
  }

  /** The list is whole. */
  keep(): void {
    const byMethod = listed.get(this.share) ?? new Map<string, ReadonlyMap<string, unknown>>();
    listed.set(this.share, byMethod);
    byMethod.set(this.method, this.now);
  }
}
