/** One list of a toolset as pages of JSON, made once for each version. Pure. */

const nothing: readonly object[] = [];

export class PagedList {
  /** Counts over the whole gateway: no two lists share one. */
  version = 0;
  private entries: readonly object[] | undefined;
  /** The entries of each page, as JSON without the brackets. */
  private pages: readonly string[] = [];

  /** @param key under which the entries stand in a result. */
  constructor(
    private readonly key: string,
    private readonly nextVersion: () => number,
    private readonly pageSize: number,
  ) {}

  /** A list that is as it was keeps its version. */
  set(entries: readonly object[] = nothing): void {
    if (entries === this.entries) return;
    this.entries = entries;
    const pages = toPages(entries, this.pageSize);
    if (this.version > 0 && isSame(pages, this.pages)) return;
    this.pages = pages;
    this.version = this.nextVersion();
  }

  /** The result of the list, as JSON. Undefined: the cursor is of another version, or none of ours. */
  page(cursor: string | undefined): string | undefined {
    const index = cursor === undefined ? 0 : this.pageIndex(cursor);
    const page = index === undefined ? undefined : this.pages[index];
    if (index === undefined || page === undefined) return undefined;
    const more = index + 1 < this.pages.length ? `,"nextCursor":"${this.cursor(index + 1)}"` : '';
    return `{"${this.key}":[${page}]${more}}`;
  }

  private cursor(index: number): string {
    return Buffer.from(`${this.version}:${index}`).toString('base64url');
  }

  private pageIndex(cursor: string): number | undefined {
    const match = /^(\d+):(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString());
    return Number(match?.[1]) === this.version ? Number(match?.[2]) : undefined;
  }
}

function toPages(entries: readonly object[], size: number): string[] {
  const pages: string[] = [];
  for (let start = 0; start === 0 || start < entries.length; start += size) {
    pages.push(JSON.stringify(entries.slice(start, start + size)).slice(1, -1));
  }
  return pages;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((page, index) => page === b[index]);
}
