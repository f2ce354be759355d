/**
 * Remembers what a person approved (S1), for the editor and the command line alike. A person approves a launch and not a
 * server, so that going back to a launch that was approved before needs no new question. What stands in the store and is not
 * understood counts as not approved.
 *
 * Invariant: a folder approves nothing of itself. Where the store lies inside the folder of a config file, only what was
 * approved in this process counts.
 */
import { Emitter, type Event } from '../base/events.js';
import { DisposableStore, type Disposable } from '../base/disposables.js';
import { isBelow } from '../base/paths.js';
import { folderOf } from '../config/sources.js';
import { storedJson } from '../protocol/json.js';
import type { Approvals } from './approvals.js';
import type { LaunchDescription, LaunchPart } from './fingerprint.js';

/** The storage of a workspace. */
export interface Storage {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** A text that other processes read and change too. */
export interface ApprovalStore {
  readonly path: string;
  readonly text: string | undefined;
  readonly onDidChange: Event<void>;
  open(): Promise<void>;
  /** Resolves when `text` is what `edit` made of the text that was there by then. */
  change(edit: (text: string | undefined) => string): Promise<void>;
}

interface ApprovalLedgerDeps {
  readonly store: ApprovalStore;
  /** Says whether a person wants to be asked. `recheck` tells that this changed. */
  readonly asks: () => boolean;
  /** Says whether a file is the user's own, whose servers need no approval. By default, no file is. */
  readonly isUsersOwn?: (file: string) => boolean;
  /** Says whether a folder belongs to the workspace. By default, none does. */
  readonly isInWorkspace?: (folder: string) => boolean;
  /** Forgets what a server offered that was revoked. Called when it serves no more, so that nothing of it is noted again. */
  readonly forgetOffers?: (server: ApprovedServer) => void;
}

export interface ApprovedServer {
  readonly server: string;
  readonly source: string;
}

interface Approved {
  /** Stand in the order of approval. */
  readonly launches: readonly LaunchDescription[];
  /** What was revoked and not approved again, so that no older storage brings it back. */
  readonly revoked: readonly ApprovedServer[];
}

/** Where a workspace had its approvals before they stood in one file. */
const earlierKey = 'mcpToolsets.approvals';
/** At most this many launches of one server, and of all, are kept; the oldest are dropped first. */
const mostLaunches = 20;
const mostOfAll = 1000;

export class ApprovalLedger implements Approvals, Disposable {
  private readonly ended = new DisposableStore('approvals of the user');
  private readonly changes = this.ended.add(new Emitter<void>());
  private stored: readonly LaunchDescription[] = [];
  /** What was approved here and is not stored, or must not be relied on from there. */
  private here: readonly LaunchDescription[] = [];

  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: ApprovalLedgerDeps) {
    const { store } = deps;
    this.ended.add(
      store.onDidChange(() => {
        this.stored = approvedIn(store.text).launches;
        this.changes.fire();
      }),
    );
  }

  /**
   * Resolves when what was approved is known; until then nothing is.
   * @param earlier the storage of the workspace, whose approvals move into the store
   */
  async load(earlier?: Storage): Promise<void> {
    await this.deps.store.open();
    const kept = earlier?.get(earlierKey);
    if (!earlier || kept === undefined) return;
    const found = Array.isArray(kept) ? kept.filter(isDescription) : [];
    const { launches, revoked } = approvedIn(this.deps.store.text);
    const known = new Set(launches.map(({ fingerprint }) => fingerprint));
    const missing = found.filter(
      (launch) => !known.has(launch.fingerprint) && !revoked.some((one) => sameServer(one, launch)),
    );
    if (missing.length > 0) await this.approve(missing);
    await earlier.update(earlierKey, undefined);
  }

  /** Lists each server once; those approved last stand at the end. */
  get servers(): readonly ApprovedServer[] {
    return [
      ...new Map(
        [...this.stored, ...this.here].map(({ server, source }) => [`${source}#${server}`, { server, source }]),
      ).values(),
    ];
  }

  judge(launch: LaunchDescription): 'approved' | 'pending' | 'notAsked' {
    return this.deps.asks() ? this.judgeAsking(launch) : 'notAsked';
  }

  /** Judges as where the person wants to be asked. */
  judgeAsking(launch: LaunchDescription): 'approved' | 'pending' | 'notAsked' {
    if (this.deps.isUsersOwn?.(launch.source)) return this.judgeUsersOwn(launch);
    return this.known(folderOf(launch.source)).some(({ fingerprint }) => fingerprint === launch.fingerprint)
      ? 'approved'
      : 'pending';
  }

  /** The person wrote these, and is asked only about the folder of the workspace in which one runs, once. */
  private judgeUsersOwn(launch: LaunchDescription): 'approved' | 'pending' | 'notAsked' {
    const { source, directory } = launch;
    if (directory === undefined || !this.deps.isInWorkspace?.(directory)) return 'notAsked';
    const isApproved = this.known(directory).some((other) => other.source === source && other.directory === directory);
    return isApproved ? 'approved' : 'pending';
  }

  /** Returns what was approved last of the same server of the same file. */
  approvedBefore(launch: ApprovedServer): LaunchDescription | undefined {
    return this.known(folderOf(launch.source))
      .filter((other) => sameServer(other, launch))
      .at(-1);
  }

  /** Says whether approvals of a folder are kept for later: a folder that holds the store could bring its own. */
  isKept(folder: string): boolean {
    return !isBelow(this.deps.store.path, folder);
  }

  /** Approves exactly these launches, whatever the servers are by now, until this process ends. */
  allow(launches: readonly LaunchDescription[]): void {
    this.here = [...this.here, ...launches];
    this.changes.fire();
  }

  /** Approves exactly these launches, whatever the servers are by now. Resolves when that is stored. */
  async approve(launches: readonly LaunchDescription[]): Promise<void> {
    this.allow(launches);
    const kept = launches.filter(({ source, directory }) =>
      this.isKept(this.deps.isUsersOwn?.(source) ? (directory ?? source) : folderOf(source)),
    );
    if (kept.length === 0) return;
    await this.change((approved) => withApproved(approved, kept));
    this.here = this.here.filter((launch) => !kept.includes(launch));
  }

  /** Forgets everything that was ever approved of this server, and what it offered. Resolves when that is stored. */
  async revoke(server: ApprovedServer): Promise<void> {
    const others = <T extends ApprovedServer>(all: readonly T[]): T[] => all.filter((one) => !sameServer(one, server));
    this.here = others(this.here);
    this.stored = others(this.stored);
    this.changes.fire();
    this.deps.forgetOffers?.(server);
    await this.change(({ launches, revoked }) => ({
      launches: others(launches),
      revoked: [...others(revoked), { server: server.server, source: server.source }],
    }));
  }

  recheck(): void {
    this.changes.fire();
  }

  dispose(): void {
    this.ended.dispose();
  }

  private known(folder: string): readonly LaunchDescription[] {
    return this.isKept(folder) ? [...this.stored, ...this.here] : this.here;
  }

  private change(edit: (approved: Approved) => Approved): Promise<void> {
    return this.deps.store.change((text) => {
      const { launches, revoked } = edit(approvedIn(text));
      const whole = { version: 1, approvals: launches.slice(-mostOfAll), revoked: revoked.slice(-mostOfAll) };
      return `${JSON.stringify(whole, null, 1)}\n`;
    });
  }
}

function withApproved({ launches, revoked }: Approved, approved: readonly LaunchDescription[]): Approved {
  const again = new Set(approved.map(({ fingerprint }) => fingerprint));
  let next = [...launches.filter(({ fingerprint }) => !again.has(fingerprint)), ...approved];
  for (const launch of approved) {
    const own = next.filter((other) => sameServer(other, launch));
    const surplus = new Set(own.slice(0, -mostLaunches));
    next = next.filter((other) => !surplus.has(other));
  }
  return { launches: next, revoked: revoked.filter((one) => !approved.some((other) => sameServer(one, other))) };
}

/** Takes from a text what is understood of it. */
function approvedIn(text: string | undefined): Approved {
  const { version, approvals, revoked } = asRecord(text === undefined ? undefined : storedJson(text));
  if (version !== 1) return { launches: [], revoked: [] };
  return {
    launches: Array.isArray(approvals) ? approvals.filter(isDescription) : [],
    revoked: Array.isArray(revoked) ? revoked.filter(isServer) : [],
  };
}

export function sameServer(a: ApprovedServer, b: ApprovedServer): boolean {
  return a.server === b.server && a.source === b.source;
}

function isServer(value: unknown): value is ApprovedServer {
  const { server, source } = asRecord(value);
  return typeof server === 'string' && typeof source === 'string';
}

function isDescription(value: unknown): value is LaunchDescription {
  const { parts, fingerprint } = asRecord(value);
  return isServer(value) && typeof fingerprint === 'string' && Array.isArray(parts) && parts.every(isPart);
}

function isPart(value: unknown): value is LaunchPart {
  const { label, shown, digest } = asRecord(value);
  return typeof label === 'string' && typeof shown === 'string' && (digest === undefined || typeof digest === 'string');
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
