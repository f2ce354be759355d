/**
 * Remembers what a person approved in this workspace (S1). A person approves a launch and not a server, so that going
 * back to a launch that was approved before needs no new question. The ledger is kept in a store of the editor that
 * belongs to the workspace and is not synchronised; what stands there and is not understood counts as not approved.
 */
import { Emitter } from '../base/events.js';
import type { Disposable } from '../base/disposables.js';
import type { Approvals } from './approvals.js';
import type { LaunchDescription, LaunchPart } from './fingerprint.js';

export interface Storage {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

interface ApprovalLedgerDeps {
  readonly storage: Storage;
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

const key = 'mcpToolsets.approvals';
/** At most this many launches of one server are kept; the oldest are dropped first. */
const mostLaunches = 20;

export class ApprovalLedger implements Approvals, Disposable {
  private readonly changes = new Emitter<void>();
  /** Stand in the order of approval. */
  private launches: readonly LaunchDescription[];

  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: ApprovalLedgerDeps) {
    const stored = deps.storage.get(key);
    this.launches = Array.isArray(stored) ? stored.filter(isDescription) : [];
  }

  /** Lists each server once; those approved last stand at the end. */
  get servers(): readonly ApprovedServer[] {
    return [
      ...new Map(this.launches.map(({ server, source }) => [`${source}#${server}`, { server, source }])).values(),
    ];
  }

  judge(launch: LaunchDescription): 'approved' | 'pending' | 'notAsked' {
    if (!this.deps.asks()) return 'notAsked';
    if (this.deps.isUsersOwn?.(launch.source)) return this.judgeUsersOwn(launch);
    return this.launches.some(({ fingerprint }) => fingerprint === launch.fingerprint) ? 'approved' : 'pending';
  }

  /** The person wrote these, and is asked only about the folder of the workspace in which one runs, once. */
  private judgeUsersOwn(launch: LaunchDescription): 'approved' | 'pending' | 'notAsked' {
    const { source, directory } = launch;
    if (directory === undefined || !this.deps.isInWorkspace?.(directory)) return 'notAsked';
    const isApproved = this.launches.some((other) => other.source === source && other.directory === directory);
    return isApproved ? 'approved' : 'pending';
  }

  /** Returns what was approved last of the same server of the same file. */
  approvedBefore(launch: ApprovedServer): LaunchDescription | undefined {
    return this.launches.filter((other) => sameServer(other, launch)).at(-1);
  }

  /** Approves exactly these launches, whatever the servers are by now. Resolves when that is stored. */
  approve(launches: readonly LaunchDescription[]): PromiseLike<void> {
    const approved = new Set(launches.map(({ fingerprint }) => fingerprint));
    let next = [...this.launches.filter(({ fingerprint }) => !approved.has(fingerprint)), ...launches];
    for (const launch of launches) {
      const own = next.filter((other) => sameServer(other, launch));
      const surplus = new Set(own.slice(0, -mostLaunches));
      next = next.filter((other) => !surplus.has(other));
    }
    return this.replace(next);
  }

  /** Forgets everything that was ever approved of this server, and what it offered. Resolves when that is stored. */
  revoke(server: ApprovedServer): PromiseLike<void> {
    const stored = this.replace(this.launches.filter((launch) => !sameServer(launch, server)));
    this.deps.forgetOffers?.(server);
    return stored;
  }

  recheck(): void {
    this.changes.fire();
  }

  dispose(): void {
    this.changes.dispose();
  }

  private replace(launches: readonly LaunchDescription[]): PromiseLike<void> {
    this.launches = launches;
    this.changes.fire();
    return this.deps.storage.update(key, launches);
  }
}

export function sameServer(a: ApprovedServer, b: ApprovedServer): boolean {
  return a.server === b.server && a.source === b.source;
}

function isDescription(value: unknown): value is LaunchDescription {
  const { server, source, parts, fingerprint } = asRecord(value);
  return (
    [server, source, fingerprint].every((text) => typeof text === 'string') &&
    Array.isArray(parts) &&
    parts.every(isPart)
  );
}

function isPart(value: unknown): value is LaunchPart {
  const { label, shown, digest } = asRecord(value);
  return typeof label === 'string' && typeof shown === 'string' && (digest === undefined || typeof digest === 'string');
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
