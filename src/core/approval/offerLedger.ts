/**
 * Keeps the first list of each approved launch, its tools, prompts and instructions, and the changes that a person has
 * accepted (S3), in the storage of the workspace. An entry with an error counts as not seen yet. Invariant: a person
 * accepts exactly the `OfferChange` that they saw, whatever the server offers now.
 */
import { BoundedMap } from '../base/boundedMap.js';
import type { Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import { sameServer, type ApprovedServer, type Storage } from './ledger.js';
import {
  differingParts,
  printOf,
  reviewedInstructions,
  reviewedKinds,
  reviewedPrompt,
  reviewedTool,
  samePrint,
  type OfferChanges,
  type OfferName,
  type OfferPrint,
  type OfferText,
  type ReviewedKind,
  type ReviewedLaunch,
  type ReviewedOffer,
  type ReviewedOffers,
  type ReviewedPart,
} from './offerPrints.js';
import type { KeptText, OfferTexts } from './offerTexts.js';

interface OfferLedgerDeps {
  readonly storage: Storage;
  readonly texts?: OfferTexts | undefined;
  /** Returns true if changes are kept from agents. `recheck` has to be called when this changes. */
  readonly holdsBack: () => boolean;
  readonly onStoreFailure: (error: unknown) => void;
}

export interface OfferChange extends OfferName, ApprovedServer {
  readonly parts: readonly ReviewedPart[];
  readonly print: OfferPrint;
  readonly now: OfferText;
  /** `new`: it did not exist. `notKept`: its text is not known. */
  readonly before: OfferText | 'new' | 'notKept';
}

type Reviewed = ApprovedServer & Pick<ReviewedLaunch, 'declared'>;

interface SeenLaunch extends Reviewed {
  readonly fingerprint: string;
  /** By kind and original name. A kind that was never listed has no baseline yet. */
  readonly prints: Map<ReviewedKind, Map<string, OfferPrint>>;
  /** Its present offer to all conversations. If one name has several forms, one that was not accepted counts. */
  listed: Listed;
  isListed: boolean;
  redact: (text: string) => string;
  readonly toKeep: Map<string, ReviewedOffer>;
  /** True if the texts of `prints` are stored. It is false for an entry of an earlier version. */
  keepsTexts: boolean;
}

const key = 'mcpToolsets.tools';
/** The limit of launches of all servers. The least recently used ones are dropped first. */
const mostLaunches = 200;

type Listed = Readonly<Record<ReviewedKind, Map<string, ReviewedOffer>>>;

const nothing = (): Listed => ({ tool: new Map(), prompt: new Map(), instructions: new Map() });

export class OfferLedger implements Disposable {
  private readonly changes = new Emitter<void>();
  private readonly launches = new BoundedMap<string, SeenLaunch>(mostLaunches);
  private storing: Promise<void> | undefined;
  private keeping: Promise<void> = Promise.resolve();

  /** Fires when a change was accepted, when a server was forgotten, and when `holdsBack` changed. */
  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: OfferLedgerDeps) {
    const stored = deps.storage.get(key);
    for (const seen of Array.isArray(stored) ? stored.flatMap(readLaunch) : [])
      this.launches.set(seen.fingerprint, seen);
  }

  /**
   * Notes every present offer of a launch, the common list first. The first one noted is the baseline.
   * @param redact removes secrets from texts before they are kept
   */
  note(launch: ReviewedLaunch, all: readonly ReviewedOffers[], redact: (text: string) => string): void {
    const seen = this.seen(launch);
    seen.redact = redact;
    seen.listed = nothing();
    seen.isListed = true;
    let isGrown = false;
    for (const offers of all) {
      const listed = listedOf(offers);
      for (const kind of reviewedKinds) {
        if (seen.prints.has(kind)) continue;
        isGrown = true;
        seen.prints.set(kind, new Map([...listed[kind]].map(([name, { print }]) => [name, print])));
        for (const [name, offer] of listed[kind]) seen.toKeep.set(keyOf(kind, name), offer);
      }
      for (const kind of reviewedKinds) for (const offer of listed[kind].values()) noteOffer(seen, offer);
    }
    if (isGrown || (this.deps.texts && !seen.keepsTexts)) this.store();
  }

  changesOf(launch: ReviewedLaunch, offers: ReviewedOffers): OfferChanges {
    const seen = this.launches.get(launch.fingerprint);
    const listed = listedOf(offers);
    const changed = (kind: ReviewedKind): ReadonlyMap<string, readonly ReviewedPart[]> => {
      const prints = seen?.prints.get(kind);
      const found = new Map<string, readonly ReviewedPart[]>();
      for (const [name, offer] of prints ? listed[kind] : []) {
        const parts = partsChanged(offer, prints?.get(name));
        if (parts.length > 0) found.set(name, parts);
      }
      return found;
    };
    return { tool: changed('tool'), prompt: changed('prompt'), instructions: changed('instructions') };
  }

  holdsBack(): boolean {
    return this.deps.holdsBack();
  }

  async changeOf({ launch, kind, original }: OfferName): Promise<OfferChange | undefined> {
    const seen = this.launches.get(launch);
    const offer = seen?.listed[kind].get(original);
    const prints = seen?.prints.get(kind);
    if (!seen || !offer || !prints) return undefined;
    const was = prints.get(original);
    const parts = partsChanged(offer, was);
    if (parts.length === 0) return undefined;
    const now = redacted(offer.text(), seen.redact);
    const { server, source } = seen;
    const change = { launch, kind, original, server, source, parts, print: offer.print, now };
    if (!was) return { ...change, before: 'new' };
    await this.stored();
    const kept = (await this.deps.texts?.read(launch).catch(() => undefined))?.get(keyOf(kind, original));
    return { ...change, before: kept && samePrint(kept.print, was) ? kept.text : 'notKept' };
  }

  accept(changes: readonly OfferChange[]): void {
    for (const { launch, kind, original, print, now } of changes) {
      const seen = this.launches.get(launch);
      const prints = seen?.prints.get(kind);
      if (!seen || !prints) continue;
      prints.set(original, print);
      seen.toKeep.set(keyOf(kind, original), { kind, name: original, print, text: () => now });
    }
    this.store();
    this.changes.fire();
  }

  /** Forgets a server without approval. Its first list after the next approval becomes the baseline. */
  forget(server: ApprovedServer): void {
    for (const [fingerprint, seen] of this.launches) {
      if (sameServer(seen, server)) this.launches.delete(fingerprint);
    }
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

  async stored(): Promise<void> {
    await this.storing;
    await this.keeping;
  }

  dispose(): void {
    this.changes.dispose();
  }

  private seen({ fingerprint, server, source, declared }: ReviewedLaunch): SeenLaunch {
    const of = { server, source, ...(declared !== undefined && { declared }) };
    const seen = this.launches.get(fingerprint) ?? emptyLaunch(fingerprint, of, new Map(), false);
    this.launches.set(fingerprint, seen);
    return seen;
  }

  private store(): void {
    this.storing ??= Promise.resolve()
      .then(() => {
        this.storing = undefined;
        this.keep();
        return this.deps.storage.update(key, [...this.launches.values()].map(writtenLaunch));
      })
      .catch(this.deps.onStoreFailure);
  }

  private keep(): void {
    const { texts } = this.deps;
    if (!texts) return;
    const toKeep = [...this.launches.values()].flatMap((seen) => {
      const offers = [...seen.toKeep];
      seen.toKeep.clear();
      seen.keepsTexts ||= seen.isListed;
      return offers.length > 0 ? [{ seen, offers }] : [];
    });
    this.keeping = this.keeping
      .then(async () => {
        for (const { seen, offers } of toKeep) {
          const kept = new Map(await texts.read(seen.fingerprint));
          for (const [name, { print, text }] of offers) kept.set(name, { print, text: redacted(text(), seen.redact) });
          await texts.write(seen.fingerprint, kept);
        }
        await texts.retain(new Set(this.launches.keys()));
      })
      .catch(this.deps.onStoreFailure);
  }
}

function emptyLaunch(fingerprint: string, of: Reviewed, prints: SeenLaunch['prints'], keepsTexts: boolean): SeenLaunch {
  const parts = { listed: nothing(), isListed: false, redact: () => '', toKeep: new Map<string, ReviewedOffer>() };
  return { ...of, fingerprint, prints, keepsTexts, ...parts };
}

function noteOffer(seen: SeenLaunch, offer: ReviewedOffer): void {
  const { kind, name } = offer;
  const was = seen.prints.get(kind)?.get(name);
  const isAccepted = was !== undefined && samePrint(was, offer.print);
  if (isAccepted && !seen.keepsTexts) seen.toKeep.set(keyOf(kind, name), offer);
  if (!isAccepted || !seen.listed[kind].has(name)) seen.listed[kind].set(name, offer);
}

function partsChanged({ kind, print }: ReviewedOffer, was: OfferPrint | undefined): readonly ReviewedPart[] {
  return was ? differingParts(kind, was, print) : ['new'];
}

function listedOf({ tool, prompt, instructions, overrides }: ReviewedOffers): Listed {
  return {
    tool: byName(tool.map((one) => reviewedTool(one, overrides?.get(one.name)))),
    prompt: byName(prompt.map(reviewedPrompt)),
    instructions: byName(instructions === undefined ? [] : [reviewedInstructions(instructions)]),
  };
}

/** The first of equal names counts (N5). */
function byName(listed: readonly ReviewedOffer[]): Map<string, ReviewedOffer> {
  const found = new Map<string, ReviewedOffer>();
  for (const offer of listed) if (!found.has(offer.name)) found.set(offer.name, offer);
  return found;
}

function keyOf(kind: ReviewedKind, name: string): string {
  return `${kind} ${name}`;
}

function redacted(text: OfferText, redact: (text: string) => string): KeptText['text'] {
  return text.map(([label, shown]) => [label, redact(shown)]);
}

/** The names of the kinds in the store. `tools` is older than the others. */
const stored = { tool: 'tools', prompt: 'prompts', instructions: 'instructions' } as const;

function writtenLaunch({ fingerprint, server, source, declared, prints, keepsTexts }: SeenLaunch): unknown {
  const kinds = [...prints].map(([kind, all]) => [stored[kind], [...all].map(([name, print]) => [name, ...print])]);
  return {
    fingerprint,
    server,
    source,
    declared,
    ...(Object.fromEntries(kinds) as object),
    ...(keepsTexts && { texts: true }),
  };
}

function readLaunch(written: unknown): SeenLaunch[] {
  if (typeof written !== 'object' || written === null) return [];
  const fields = written as Readonly<Record<string, unknown>>;
  const { fingerprint, server, source, declared, texts } = fields;
  if (typeof fingerprint !== 'string' || typeof server !== 'string' || typeof source !== 'string') return [];
  const prints: SeenLaunch['prints'] = new Map();
  for (const kind of reviewedKinds) {
    const entries = fields[stored[kind]];
    if (Array.isArray(entries)) prints.set(kind, readPrints(kind, entries));
  }
  // An entry of an earlier version has only tools. The next list is the baseline of the other kinds.
  const of = { server, source, ...(typeof declared === 'string' && { declared }) };
  return prints.has('tool') ? [emptyLaunch(fingerprint, of, prints, texts === true)] : [];
}

function readPrints(kind: ReviewedKind, entries: readonly unknown[]): Map<string, OfferPrint> {
  const prints = new Map<string, OfferPrint>();
  for (const entry of entries) {
    if (!Array.isArray(entry)) continue;
    const [name, ...hashes] = entry as readonly unknown[];
    const print = printOf(kind, hashes);
    if (typeof name === 'string' && print) prints.set(name, print);
  }
  return prints;
}
