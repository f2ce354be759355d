/**
 * The lists of tools as clients are served them, one for each toolset and kind of client: JSON made once for each
 * version, pages, and the moment at which a change is told.
 *
 * Invariants: a version stands for exactly one list, and no two lists of a gateway share one; a change that leaves the
 * list as it was (instructions, a removal taken back at once) is no new version. A toolset that is gone has an empty
 * list: sessions outlive it, because only the client can end them without losing its calls in flight (spec R4).
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../base/clock.js';
import { DisposableStore, type Disposable } from '../base/disposables.js';
import type { Log } from '../base/log.js';
import type { ClientKind, GatewayBackend, ServedToolset } from './backend.js';

const noTools: readonly Tool[] = [];

export class Listing {
  /** Counts over the whole gateway, see above. */
  version = 0;
  isGone = false;
  private tools: readonly Tool[] | undefined;
  /** The tools of each page, as JSON without the brackets. */
  private pages: readonly string[] = [];
  private isStale = false;

  constructor(
    readonly toolset: string,
    readonly clientKind: ClientKind,
    private readonly ask: () => ServedToolset | undefined,
    private readonly nextVersion: () => number,
    private readonly pageSize: number,
  ) {
    this.refresh();
  }

  /** Makes the next `refreshIfStale` ask again. */
  invalidate(): void {
    this.isStale = true;
  }

  refreshIfStale(): void {
    if (this.isStale) this.refresh();
  }

  refresh(): void {
    const served = this.ask();
    this.isStale = false;
    this.isGone = served === undefined;
    const tools = served?.tools ?? noTools;
    if (tools === this.tools) return;
    this.tools = tools;
    const pages = toPages(tools, this.pageSize);
    if (this.version > 0 && isSame(pages, this.pages)) return;
    this.pages = pages;
    this.version = this.nextVersion();
  }

  /** The result of `tools/list`, as JSON. Undefined: the cursor is of another version, or none of ours. */
  page(cursor: string | undefined): string | undefined {
    const index = cursor === undefined ? 0 : this.pageIndex(cursor);
    const page = index === undefined ? undefined : this.pages[index];
    if (index === undefined || page === undefined) return undefined;
    return index + 1 < this.pages.length
      ? `{"tools":[${page}],"nextCursor":"${this.cursor(index + 1)}"}`
      : `{"tools":[${page}]}`;
  }

  private cursor(index: number): string {
    return Buffer.from(`${this.version}:${index}`).toString('base64url');
  }

  private pageIndex(cursor: string): number | undefined {
    const match = /^(\d+):(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString());
    return Number(match?.[1]) === this.version ? Number(match?.[2]) : undefined;
  }
}

function toPages(tools: readonly Tool[], size: number): string[] {
  const pages: string[] = [];
  for (let start = 0; start === 0 || start < tools.length; start += size) {
    pages.push(JSON.stringify(tools.slice(start, start + size)).slice(1, -1));
  }
  return pages;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((page, index) => page === b[index]);
}

export interface ListingsOptions {
  readonly backend: GatewayBackend;
  readonly clock: Clock;
  readonly log: Log;
  readonly pageSize: number;
  /** Changes within this time of the first one, in milliseconds, are told as one. */
  readonly coalesceMs: number;
  /** The time to tell has come; the listing is fresh. */
  readonly announce: (listing: Listing) => void;
}

export class Listings implements Disposable {
  private readonly store = new DisposableStore('gateway listings');
  private readonly byKey = new Map<string, Listing>();
  private readonly changed = new Set<Listing>();
  private timer: Disposable | undefined;
  private versions = 0;

  constructor(private readonly options: ListingsOptions) {
    this.store.add(options.backend.onDidChangeToolsets((ids) => this.noteChanges(ids)));
    this.store.add({ dispose: () => this.timer?.dispose() });
  }

  /** Fresh. Of a toolset that was never there: create only where the backend knows it. */
  of(toolset: string, clientKind: ClientKind): Listing {
    const key = `${clientKind}/${toolset}`;
    const known = this.byKey.get(key);
    if (known) {
      known.refresh();
      return known;
    }
    const { backend, pageSize } = this.options;
    const ask = (): ServedToolset | undefined => backend.toolset(toolset, clientKind);
    const listing = new Listing(toolset, clientKind, ask, () => (this.versions += 1), pageSize);
    this.byKey.set(key, listing);
    return listing;
  }

  dispose(): void {
    this.store.dispose();
    this.byKey.clear();
    this.changed.clear();
  }

  private noteChanges(toolsets: readonly string[]): void {
    for (const toolset of toolsets) {
      for (const clientKind of ['editor', 'plain'] as const) {
        const listing = this.byKey.get(`${clientKind}/${toolset}`);
        if (!listing) continue;
        listing.invalidate();
        this.changed.add(listing);
      }
    }
    if (this.changed.size > 0) this.timer ??= this.options.clock.after(this.options.coalesceMs, () => this.tell());
  }

  private tell(): void {
    this.timer = undefined;
    const due = [...this.changed];
    this.changed.clear();
    for (const listing of due) {
      try {
        listing.refreshIfStale();
        this.options.announce(listing);
      } catch (error) {
        this.options.log.write('error', `The tools of ${listing.toolset} could not be listed: ${String(error)}`);
      }
    }
  }
}
