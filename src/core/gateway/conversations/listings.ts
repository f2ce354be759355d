/**
 * Lists of toolsets. Invariants: one version is one list, for the whole gateway; an unchanged list
 * keeps its version. A removed toolset has an empty list, because only a client can end its session
 * without losing calls in flight (R4).
 */
import { randomInt } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { appOf } from '../../apps/toolMeta.js';
import { Throttle, type Clock } from '../../base/clock.js';
import { DisposableStore, type Disposable } from '../../base/disposables.js';
import type { Log } from '../../base/log.js';
import { sameJson } from '../../base/canonicalJson.js';
import { perObject } from '../../base/perObject.js';
import { asText } from '../../base/text.js';
import type { ServerFeatures } from '../../tools/features.js';
import { showsApps } from '../../protocol/client.js';
import type { ClientPolicy } from '../../protocol/clientPolicy.js';
import { emptyToolset, type GatewayBackend, type ServedToolset } from '../backend.js';
import { entries } from '../dialect.js';
import { mirroredParams, type MirroredParam } from '../../protocol/mirroredParams.js';
import type { SpokenVersion } from '../../protocol/versions.js';
import type { ClientTraits } from './clientTraits.js';

/** The reader of a list. A list for all has no conversation. */
interface ListReader {
  readonly toolset: string;
  readonly policy: ClientPolicy;
  readonly traits: Pick<ClientTraits, 'version' | 'declared' | 'readsStructureAlone'>;
  readonly conversation: string | undefined;
}

export class Listing {
  readonly toolset: string;
  readonly policy: ClientPolicy;
  readonly conversation: string | undefined;
  readonly tools: PagedList;
  readonly prompts: PagedList;
  readonly resources: PagedList;
  readonly templates: PagedList;
  served: ServedToolset | undefined;
  /** The toolset as it was last served. Until then, it may have any feature. */
  private last: Pick<ServedToolset, 'features' | 'canGain'> = emptyToolset;
  isStale = false;

  constructor(
    { toolset, policy, conversation }: ListReader,
    private readonly ask: () => ServedToolset | undefined,
    list: (key: string) => PagedList,
  ) {
    this.toolset = toolset;
    this.policy = policy;
    this.conversation = conversation;
    this.tools = list('tools');
    this.prompts = list('prompts');
    this.resources = list('resources');
    this.templates = list('resourceTemplates');
    this.refresh();
  }

  get features(): ServerFeatures {
    return this.last.features;
  }

  get canGain(): boolean {
    return this.last.canGain;
  }

  /** Versions only grow, so the greater one of two lists represents both. */
  versionOf(topic: Topic): number {
    return topic === 'resources'
      ? Math.max(this.resources.version, this.templates.version)
      : this[topic].version;
  }

  refreshIfStale(): void {
    if (this.isStale) this.refresh();
  }

  refresh(): void {
    const served = this.ask();
    this.isStale = false;
    const isSame = served === this.served && served !== undefined;
    if (!isSame) for (const list of listNames) this[list].set(served?.[list]);
    this.served = served;
    if (served) this.last = served;
  }

  get isGone(): boolean {
    return !this.served;
  }

  /** The URIs of apps, by the listed names of their tools (G8). */
  get apps(): ReadonlyMap<string, string> {
    return this.served ? appsIn(this.served) : new Map();
  }

  get mirrored(): ReadonlyMap<string, readonly MirroredParam[]> {
    return this.served ? mirroredIn(this.served) : new Map();
  }

  hasApp(uri: unknown): boolean {
    return [...this.apps.values()].some((one) => one === uri);
  }

  isForAppsAlone(name: string): boolean {
    return this.served?.appTools.some((tool) => tool.name === name) === true;
  }
}

const appsIn = perObject(({ tools }: ServedToolset) => {
  const apps = tools.map((tool) => [tool.name, appOf(tool)] as const);
  return new Map(apps.filter((app): app is [string, string] => app[1] !== undefined));
});

const mirroredIn = perObject(({ tools, appTools }: ServedToolset) => {
  const found = [...tools, ...appTools].map(
    ({ name, inputSchema }) => [name, mirroredParams(inputSchema)] as const,
  );
  return new Map(
    found.map(([name, mirrored]) => [name, typeof mirrored === 'string' ? [] : mirrored]),
  );
});

const withAppTools = perObject((served: ServedToolset): ServedToolset => {
  const { tools, appTools } = served;
  return appTools.length === 0 ? served : { ...served, tools: [...tools, ...appTools] };
});

/** A note may replace the structure promised by an output schema. */
const withoutOutputSchemas = perObject((served: ServedToolset): ServedToolset => ({
  ...served,
  tools: served.tools.map(({ outputSchema: _, ...tool }) => tool),
}));

interface ListingsDeps {
  readonly backend: GatewayBackend;
  readonly clock: Clock;
  readonly log: Log;
  readonly pageSize: number;
  /** Changes within this time of the first one are announced together, in milliseconds. */
  readonly coalesceMs: number;
  readonly announce: (listing: Listing) => void;
}

export class Listings implements Disposable {
  private readonly store = new DisposableStore('gateway listings');
  private readonly shared = new Map<string, Listing>();
  private readonly own = new Set<Listing>();
  private readonly pages = new Map<SpokenVersion, ToPages>();
  private readonly changed = new Set<Listing>();
  private readonly announcing: Throttle;
  /** Begins at random, because a client may bring a cursor from before a restart. */
  private versions = randomInt(2 ** 40);

  constructor(private readonly deps: ListingsDeps) {
    this.announcing = this.store.add(
      new Throttle(deps.clock, deps.coalesceMs, () => void this.announce()),
    );
    this.store.add(deps.backend.onDidChangeToolsets((ids) => this.markChanged(new Set(ids))));
  }

  /**
   * The backend must know the toolset. A listing for one conversation has to be given back with
   * `forget`.
   */
  of(reader: ListReader): Listing {
    const { toolset, policy, traits, conversation } = reader;
    const { version, readsStructureAlone } = traits;
    // A client that shows apps gets their tools too (G8).
    const isForApps = showsApps(traits.declared);
    const key = `${policy.road}/${version}/${readsStructureAlone}/${isForApps}/${toolset}`;
    const shared = conversation === undefined ? this.shared.get(key) : undefined;
    if (shared) {
      shared.refresh();
      return shared;
    }
    const ask = (): ServedToolset | undefined => {
      const served = this.deps.backend.toolset(toolset, policy, conversation);
      const forApps = served && isForApps ? withAppTools(served) : served;
      return forApps && readsStructureAlone ? withoutOutputSchemas(forApps) : forApps;
    };
    const pages = this.pagesIn(version);
    const nextVersion = (): number => (this.versions += 1);
    const listing = new Listing(reader, ask, (list) => new PagedList(list, nextVersion, pages));
    if (conversation === undefined) this.shared.set(key, listing);
    else this.own.add(listing);
    return listing;
  }

  /** All lists in one version share the pages of equal entries. */
  private pagesIn(version: SpokenVersion): ToPages {
    const { pageSize } = this.deps;
    const pages =
      this.pages.get(version) ?? perObject((entries) => new Pages(entries, version, pageSize));
    this.pages.set(version, pages);
    return pages;
  }

  forget(listing: Listing): void {
    this.own.delete(listing);
    this.changed.delete(listing);
  }

  dispose(): void {
    this.store.dispose();
    this.changed.clear();
  }

  private markChanged(toolsets: ReadonlySet<string>): void {
    for (const listing of [...this.shared.values(), ...this.own]) {
      if (!toolsets.has(listing.toolset)) continue;
      listing.isStale = true;
      this.changed.add(listing);
    }
    if (this.changed.size > 0) this.announcing.ask();
  }

  /** Handles each listing in a turn of its own (P10). */
  private async announce(): Promise<void> {
    for (const listing of [...this.changed]) {
      if (!this.changed.delete(listing)) continue;
      try {
        listing.refreshIfStale();
        this.deps.announce(listing);
      } catch (error) {
        this.deps.log.write(
          'error',
          `What ${listing.toolset} offers could not be listed: ${asText(error)}`,
        );
      }
      await nextTurn();
    }
  }
}

type ToPages = (entries: readonly object[]) => Pages;

/**
 * The pages of a list for all clients. Each is written on demand, because a whole list would hold
 * up the loop (P10).
 */
class Pages {
  private readonly written: string[] = [];

  constructor(
    readonly entries: readonly object[],
    private readonly protocol: SpokenVersion,
    private readonly size: number,
  ) {}

  isLast(index: number): boolean {
    return (index + 1) * this.size >= this.entries.length;
  }

  /** Returns the entries as JSON without the brackets. */
  at(index: number): string | undefined {
    if (index > 0 && this.isLast(index - 1)) return undefined;
    const page = this.entries.slice(index * this.size, (index + 1) * this.size);
    this.written[index] ??= JSON.stringify(entries(this.protocol, page)).slice(1, -1);
    return this.written[index];
  }
}

const nothing: readonly object[] = [];

class PagedList {
  version = 0;
  private entries: readonly object[] | undefined;
  private pages: Pages | undefined;

  /** @param key of the entries in a result */
  constructor(
    private readonly key: string,
    private readonly nextVersion: () => number,
    private readonly toPages: ToPages,
  ) {}

  set(entries: readonly object[] = nothing): void {
    if (entries === this.entries) return;
    this.entries = entries;
    if (this.pages && sameJson(this.pages.entries, entries)) return;
    this.pages = this.toPages(entries);
    this.version = this.nextVersion();
  }

  /** Returns the result as JSON, or undefined if the cursor is unknown or of another version. */
  page(cursor: string | undefined): string | undefined {
    const place =
      cursor === undefined ? `${this.version}:0` : Buffer.from(cursor, 'base64url').toString();
    const [, version, index] = /^(\d+):(\d+)$/.exec(place) ?? [];
    const page = Number(version) === this.version ? this.pages?.at(Number(index)) : undefined;
    if (page === undefined) return undefined;
    const next = Number(index) + 1;
    const nextCursor = Buffer.from(`${this.version}:${next}`).toString('base64url');
    const more = this.pages?.isLast(Number(index)) ? '' : `,"nextCursor":"${nextCursor}"`;
    return `{"${this.key}":[${page}]${more}}`;
  }
}

export const topics = ['tools', 'prompts', 'resources'] as const;

export type Topic = (typeof topics)[number];

/** One notification covers both lists of resources. */
const listNames = [...topics, 'templates'] as const;

export type ListName = (typeof listNames)[number];
