/**
 * Keeps the first offer of each approved launch and the changes that a person has accepted (S3), in
 * the storage of the workspace. An entry with an error counts as not seen yet. Invariant: a person
 * accepts exactly the `OfferChange` that they saw, whatever the server offers now. A store that was
 * not understood gives no baseline: everything counts as changed, and writes leave it as it is. A
 * lock file begins a baseline, and later only adds changes: no file accepts for a person (S3d).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BoundedMap } from '../base/boundedMap.js';
import type { Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import { sameJson } from '../base/canonicalJson.js';
import { asList, isObject, isTexts, type Fields } from '../base/isObject.js';
import { shortened } from '../base/shortHash.js';
import { sameServer, type ApprovedServer, type Storage } from './ledger.js';
import { changeIn, isPrint, keyOf, partsChanged, printOf } from './offerPrints.js';
import type {
  LockedOffer,
  LockedOffers,
  OfferChanges,
  OfferName,
  OfferPrint,
  OfferText,
  ReviewedKind,
  ReviewedLaunch,
  ReviewedOffer,
  ReviewedOffers,
  ChangedOffer,
  ReviewedPart,
} from './offerPrints.js';
import type { KeptText, OfferTexts } from './offerTexts.js';
import type { ServerDefinition } from '../config/model.js';
import type { SeenTool } from '../tools/seenTool.js';

interface OfferLedgerDeps {
  readonly storage: Storage;
  readonly texts?: OfferTexts | undefined;
  /** Returns true if changes are kept from agents. `recheck` has to be called when this changes. */
  readonly holdsBack: () => boolean;
  readonly onStoreFailure: (error: unknown) => void;
}

export interface OfferChange extends OfferName, ApprovedServer {
  readonly parts: readonly ReviewedPart[];
  readonly isOfFile?: boolean;
  readonly print: OfferPrint;
  readonly now: OfferText;
  /** `new`: it did not exist. `notKept`: its text is not known. */
  readonly before: OfferText | 'new' | 'notKept';
}

type Redact = (text: string) => string;

interface SeenLaunch extends ApprovedServer, Pick<ReviewedLaunch, 'declared'> {
  readonly fingerprint: string;
  /** The baseline with the accepted changes, by kind and name. */
  readonly prints: Map<string, Omit<ReviewedOffer, 'text'>>;
  /** The keys of the offers that a person accepted one by one, whatever a lock says. */
  readonly byHand: Set<string>;
  /** The kinds with a baseline. The others have theirs in their first list with an entry. */
  kinds: readonly ReviewedKind[];
  /** True if its first list had none of the declared tools. */
  isLate: boolean;
  /** Differs after each change of the baseline, also from the number of any other baseline. */
  version: number;
  /**
   * Its present offer to all conversations. If one name has several forms, one that was not
   * accepted counts.
   */
  listed: Map<string, ReviewedOffer>;
  redact: Redact;
  readonly toKeep: Map<string, ReviewedOffer>;
  /** The common list in its published order (N6). */
  order: readonly SeenTool[];
}

const key = 'mcpToolsets.tools';

/** The lock of a server; `unreadable` if nobody knows what its file says. */
export type LockOf = (
  server: ApprovedServer,
) => { readonly offers: LockedOffers } | 'unreadable' | undefined;

/** A server in one text of its file. */
type OwnOverrides = Pick<ServerDefinition, 'overrides'>;

function keyOfServer({ server, source }: ApprovedServer): string {
  return `${source} ${server}`;
}

/** The limit of the stored order of one launch, in characters. A longer one is not stored. */
const longestOrder = 128 * 1024;
/** The limit of launches of all servers. The least recently used ones are dropped first. */
const mostLaunches = 200;

export class OfferLedger implements Disposable {
  private readonly changes = new Emitter<void>();
  private readonly launches = new BoundedMap<string, SeenLaunch>(mostLaunches);
  private storing: Promise<void> = Promise.resolve();
  private isDue = false;
  readonly isUsable: boolean;
  private versions = 0;
  private readonly own = new Map<string, readonly OwnOverrides[]>();
  /** The locks of the present files. */
  lockOf: LockOf = () => undefined;

  /**
   * Fires when a change was accepted, when a server was forgotten, and when `holdsBack` changed.
   */
  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: OfferLedgerDeps) {
    const stored = deps.storage.get(key);
    this.isUsable = stored === undefined || Array.isArray(stored);
    for (const seen of asList(stored).flatMap(readLaunch))
      this.launches.set(seen.fingerprint, seen);
  }

  /**
   * Notes every present offer of a launch, the common list first. The first one noted is the
   * baseline. If it has none of the declared tools, each list may come later.
   */
  note(
    launch: ReviewedLaunch,
    all: readonly ReviewedOffers[],
    redact: Redact,
    order: SeenLaunch['order'] = [],
    declaresTools = true,
  ): void {
    const seen = this.launches.get(launch.fingerprint) ?? seenLaunch(launch);
    // Setting it again renews it.
    this.launches.set(launch.fingerprint, seen);
    if (seen.kinds.length < allKinds.length)
      this.begin(seen, (this.isUsable && all[0]) || new Map(), declaresTools && this.isUsable);
    if (order !== seen.order && !sameJson(order, seen.order)) this.store();
    seen.order = order;
    seen.redact = redact;
    seen.listed = new Map();
    for (const list of all) {
      for (const [of, offer] of list) {
        this.acceptOwn(seen, of, offer);
        if (!seen.listed.has(of) || this.changeIn(seen, of, offer).parts.length > 0)
          seen.listed.set(of, offer);
      }
    }
  }

  /** The lock or the first list is the baseline of each kind that has none yet. */
  private begin(seen: SeenLaunch, list: ReviewedOffers, declaresTools: boolean): void {
    const lock = seen.kinds.length === 0 && this.isUsable ? this.lockedOf(seen) : undefined;
    const offers = lock ? lockedList(lock, list) : list;
    const first = [...offers].filter(([, { kind }]) => !seen.kinds.includes(kind));
    const begun = ['instructions', ...seen.kinds, ...first.map(([, { kind }]) => kind)];
    if (seen.kinds.length === 0) seen.isLate = declaresTools && !begun.includes('tool');
    const kinds = seen.isLate ? allKinds.filter((kind) => begun.includes(kind)) : allKinds;
    if (kinds.length === seen.kinds.length) return;
    for (const [of, offer] of first) {
      seen.prints.set(of, offer);
      const listed = list.get(of);
      if (listed && partsChanged(listed, offer).length === 0) seen.toKeep.set(of, listed);
    }
    seen.kinds = kinds;
    seen.version = ++this.versions;
    this.store();
  }

  /** Returns the baselines of a server's launches. */
  baselinesOf(
    server: ApprovedServer,
  ): readonly Pick<SeenLaunch, 'fingerprint' | 'declared' | 'prints' | 'isLate' | 'version'>[] {
    return [...this.launches.values()].filter((seen) => sameServer(seen, server));
  }

  changesOf(launch: ReviewedLaunch, offers: ReviewedOffers): OfferChanges {
    const changes = new Map<string, Omit<ChangedOffer, 'launch' | 'held'>>();
    const isUnknown = this.lockOf(launch) === 'unreadable';
    const seen = this.launches.get(launch.fingerprint);
    for (const [of, offer] of seen || isUnknown ? offers : []) {
      const { kind, original } = offer;
      const change = isUnknown
        ? { parts: ['lock'] as const }
        : seen?.kinds.includes(kind) && this.changeIn(seen, of, offer);
      if (!change || change.parts.length === 0) continue;
      changes.set(of, {
        kind,
        original,
        ...change,
      });
    }
    return changes;
  }

  /**
   * A change since the baseline, or from the lock. The lock does not count for what a person
   * accepted by hand.
   */
  private changeIn(seen: SeenLaunch, of: string, offer: ReviewedOffer) {
    const own = changeIn(offer, seen.prints.get(of));
    const lock = this.lockedOf(seen);
    if (own.parts.length > 0 || !lock || !offer.digests || seen.byHand.has(of)) return own;
    const locked = lock.get(of);
    return changeIn(offer, locked && asInLock(locked, offer));
  }

  private lockedOf(server: ApprovedServer): LockedOffers | undefined {
    const lock = this.lockOf(server);
    return lock === 'unreadable' ? undefined : lock?.offers;
  }

  orderOf({ fingerprint }: ReviewedLaunch): readonly SeenTool[] {
    return this.launches.get(fingerprint)?.order ?? [];
  }

  /** True if agents get no changes of a server. */
  holdsBack(server: ApprovedServer): boolean {
    return this.deps.holdsBack() || this.lockOf(server) === 'unreadable';
  }

  /** Resolves to the changes with these names that a person has not accepted yet. */
  async changesNamed(names: readonly OfferName[]): Promise<readonly OfferChange[]> {
    const found = await Promise.all(names.map((name) => this.changeOf(name)));
    return found.filter((change) => change !== undefined);
  }

  async changeOf({ launch, ...ref }: OfferName): Promise<OfferChange | undefined> {
    const of = keyOf(ref);
    const seen = this.launches.get(launch);
    const offer = seen?.listed.get(of);
    if (!seen || !offer) return undefined;
    const found = this.changeIn(seen, of, offer);
    if (found.parts.length === 0) return undefined;
    const isOfLock = partsChanged(offer, seen.prints.get(of)).length === 0;
    const was = isOfLock ? undefined : seen.prints.get(of);
    const { server, source, redact } = seen;
    const now = redacted(offer.text(), redact);
    const change = {
      launch,
      ...ref,
      server,
      source,
      ...found,
      print: offer.print,
      now,
    };
    if (!was) return { ...change, before: found.parts.join() === 'new' ? 'new' : 'notKept' };
    await this.storing;
    const kept = (await this.deps.texts?.read(launch).catch(() => undefined))?.get(of);
    return { ...change, before: kept?.print.join() === was.print.join() ? kept.text : 'notKept' };
  }

  accept(changes: readonly OfferChange[]): void {
    for (const { launch, kind, original, print, now } of changes) {
      const seen = this.launches.get(launch);
      if (!seen) continue;
      const accepted = {
        kind,
        original,
        print,
        text: () => now,
      };
      seen.prints.set(keyOf(accepted), accepted);
      seen.toKeep.set(keyOf(accepted), accepted);
      seen.byHand.add(keyOf(accepted));
      seen.version = ++this.versions;
    }
    this.store();
    this.changes.fire();
  }

  /**
   * A change from one of these overrides to another counts as accepted, because a person wrote them
   * one after the other (O5).
   */
  noteOwnOverrides(server: ApprovedServer, own: readonly OwnOverrides[]): void {
    this.own.set(keyOfServer(server), own);
    this.changes.fire();
  }

  /** Nothing else of the tool counts as accepted with its override. */
  private acceptOwn(seen: SeenLaunch, of: string, offer: ReviewedOffer): void {
    const was = seen.prints.get(of);
    const now = offer.print.at(-1) ?? '';
    if (!was || was.print.at(-1) === now) return;
    const own = this.own.get(keyOfServer(seen)) ?? [];
    const prints = own.map(({ overrides }) => printOf(overrides?.get(offer.original)));
    if (!prints.includes(was.print.at(-1) ?? '') || !prints.includes(now)) return;
    const accepted = {
      ...offer,
      print: [...was.print.slice(0, -1), now],
    };
    seen.prints.set(of, accepted);
    if (partsChanged(offer, accepted).length === 0) seen.toKeep.set(of, offer);
    this.store();
  }

  /**
   * Forgets a server without approval. Its first list after the next approval becomes the baseline.
   */
  forget(server: ApprovedServer): void {
    for (const [fingerprint, seen] of this.launches)
      if (sameServer(seen, server)) this.launches.delete(fingerprint);
    this.store();
    this.changes.fire();
  }

  /** Returns the sets of declared capabilities with a baseline of one of these servers, as JSON. */
  declaredFor(servers: readonly string[]): readonly string[] {
    const own = [...this.launches.values()].filter(({ server }) => servers.includes(server));
    return [...new Set(own.flatMap(({ declared }) => declared ?? []))];
  }

  recheck(): void {
    this.changes.fire();
  }

  stored(): Promise<void> {
    return this.storing;
  }

  dispose(): void {
    this.changes.dispose();
  }

  private store(): void {
    if (this.isDue || !this.isUsable) return;
    this.isDue = true;
    this.storing = this.storing.then(() => this.write()).catch(this.deps.onStoreFailure);
  }

  private async write(): Promise<void> {
    this.isDue = false;
    const { storage, texts } = this.deps;
    await storage.update(key, [...this.launches.values()].map(writtenLaunch));
    for (const [fingerprint, { toKeep, redact }] of texts ? [...this.launches] : []) {
      const offers = new Map(toKeep);
      toKeep.clear();
      if (offers.size === 0) continue;
      const kept = new Map(await texts?.read(fingerprint));
      await keep(offers, redact, kept);
      await texts?.write(fingerprint, kept);
    }
    await texts?.retain(new Set(this.launches.keys()));
  }
}

function seenLaunch(
  {
    fingerprint,
    server,
    source,
    declared,
  }: Pick<ReviewedLaunch, 'fingerprint' | 'server' | 'source' | 'declared'>,
  kinds: SeenLaunch['kinds'] = [],
  order: SeenLaunch['order'] = [],
): SeenLaunch {
  const of = {
    fingerprint,
    server,
    source,
    ...(declared !== undefined && { declared }),
  };
  const noOffers = {
    prints: new Map(),
    byHand: new Set<string>(),
    toKeep: new Map(),
    listed: new Map(),
  };
  return {
    ...of,
    ...noOffers,
    kinds,
    isLate: false,
    order,
    version: 0,
    redact: () => '',
  };
}

/** Returns an offer as the lock has it. Its override is the file's, so the lock says nothing of it. */
function asInLock(locked: LockedOffer, offer: ReviewedOffer | undefined) {
  const { kind, original, digests } = locked;
  // Agents read the manual of the file with the instructions, and the lock has only these.
  if (offer?.digests?.join() === digests.join()) return { kind, original, print: offer.print };
  const override = kind === 'tool' ? [offer?.print.at(-1) ?? printOf()] : [];
  return { kind, original, print: [...digests.map(shortened), ...override] };
}

/** Returns the baseline by a lock. What no lock has is as it is listed. */
function lockedList(lock: LockedOffers, list: ReviewedOffers) {
  const first = new Map<string, Omit<ReviewedOffer, 'text'>>();
  for (const [of, offer] of list) if (!offer.digests) first.set(of, offer);
  for (const [of, locked] of lock) first.set(of, asInLock(locked, list.get(of)));
  return first;
}

/**
 * To look for secrets in a longer text would hold up the event loop (P10). Its offer is kept
 * without its text.
 */
const longestText = 256 * 1024;
const ofOneTurn = 128 * 1024;

async function keep(
  offers: ReviewedOffers,
  redact: Redact,
  kept: Map<string, KeptText>,
): Promise<void> {
  let looked = 0;
  for (const [of, { print, text }] of offers) {
    const plain = text();
    const length = plain.reduce((sum, [, shown]) => sum + shown.length, 0);
    if (length > longestText) continue;
    kept.set(of, { print, text: redacted(plain, redact) });
    looked += length;
    if (looked < ofOneTurn) continue;
    looked = 0;
    await nextTurn();
  }
}

function redacted(text: OfferText, redact: Redact): OfferText {
  return text.map(([label, shown]) => [label, redact(shown)]);
}

const keys = {
  tool: 'tools',
  prompt: 'prompts',
  resource: 'resources',
  instructions: 'instructions',
} as const;
const allKinds = Object.keys(keys) as ReviewedKind[];

function writtenLaunch({
  fingerprint,
  server,
  source,
  declared,
  prints,
  byHand,
  kinds,
  isLate,
  order,
}: SeenLaunch): unknown {
  const all = allKinds.map((kind) => {
    if (!kinds.includes(kind)) return [keys[kind], null];
    const own = [...prints.values()].filter((one) => one.kind === kind);
    return [keys[kind], own.map(({ original, print }) => [original, ...print])];
  });
  const kept = order.join().length > longestOrder ? [] : order;
  return {
    fingerprint,
    server,
    source,
    declared,
    isLate,
    order: kept,
    ...(byHand.size > 0 && { byHand: [...byHand] }),
    ...(Object.fromEntries(all) as object),
  };
}

function readLaunch(written: unknown): SeenLaunch[] {
  if (!isObject(written)) return [];
  const { fingerprint, server, source, declared, order } = written;
  if (typeof fingerprint !== 'string' || typeof server !== 'string' || typeof source !== 'string')
    return [];
  const rows = asList(order).filter((row) => isTexts(row) && row.length === 3);
  // An earlier version knew no baseline of resources. Without another list, its kind counts as
  // changed.
  const { resources = null } = written;
  const lists: Fields = { ...written, resources };
  const kinds = allKinds.filter((kind) => lists[keys[kind]] !== null);
  const of = {
    fingerprint,
    server,
    source,
    ...(typeof declared === 'string' && { declared }),
  };
  const seen = seenLaunch(of, kinds, rows as SeenTool[]);
  seen.isLate = written['isLate'] === true;
  for (const of of asList(written['byHand'])) if (typeof of === 'string') seen.byHand.add(of);
  for (const kind of allKinds) {
    const entries = asList(written[keys[kind]]).filter(Array.isArray);
    for (const [original, ...print] of entries) {
      if (typeof original !== 'string' || !isPrint(kind, print)) continue;
      const offer = {
        kind,
        original,
        print,
      };
      seen.prints.set(keyOf(offer), offer);
    }
  }
  return [seen];
}
