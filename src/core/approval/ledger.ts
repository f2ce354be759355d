/**
 * Keeps the approvals of a person (S1). A person approves a launch and not a server, so that a
 * return to an earlier launch needs no new question. Invariant: a folder cannot approve itself. If
 * the store lies inside the folder of a config file, or the folder is another user's, only
 * approvals of this process count. A text that was not understood approves nothing, and no write
 * replaces it.
 */
import { Emitter, type Event } from '../base/events.js';
import { DisposableStore, type Disposable } from '../base/disposables.js';
import { hasFields, isObject } from '../base/isObject.js';
import { isBelow, isPersons } from '../base/paths.js';
import type { FileContent } from '../base/textFile.js';
import { folderOf } from '../config/sources.js';
import { storedJson } from '../protocol/json.js';
import type { Approvals, ApprovalVerdict } from './approvals.js';
import type { LaunchDescription } from './fingerprint.js';
import { worktreeOf, type WorktreePlace } from './worktree.js';

export interface Storage {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

export interface ApprovalStore {
  readonly path: string;
  readonly content: FileContent;
  readonly onDidChange: Event<void>;
  open(): Promise<void>;
  change(edit: (text: string | undefined) => string): Promise<void>;
}

interface ApprovalLedgerDeps {
  readonly store: ApprovalStore;
  /** Returns true if a person wants to be asked. `recheck` has to be called when this changes. */
  readonly asks: () => boolean;
  /** True if a server needs no question even after a person revoked its approval. */
  readonly startsRevoked?: boolean;
  readonly isUsersOwn?: (file: string) => boolean;
  readonly isInWorkspace?: (folder: string) => boolean;
  /**
   * Called after a revocation when the server no longer serves, so that none of its offers is noted
   * again.
   */
  readonly forgetOffers?: (server: ApprovedServer) => void;
}

/** The worktrees of one repository have the same server if their paths to its file are the same. */
export interface ApprovedServer {
  readonly server: string;
  readonly source: string;
  readonly worktree?: WorktreePlace;
}

/** All entries and fields of the store. Those of a later product approve nothing and stay. */
type Whole = Readonly<Record<'approvals' | 'revoked', readonly unknown[]>>;

type Stored =
  | { readonly kind: 'unusable'; readonly reason: string }
  | {
      readonly kind: 'usable';
      readonly whole: Whole;
      readonly launches: readonly LaunchDescription[];
      /** The servers without approval from now on. */
      readonly revoked: readonly ApprovedServer[];
    };

const empty = '{"version":1,"approvals":[]}';

/** The limits for one server and for all. The oldest launches are dropped first. */
const mostLaunches = 20;
const mostOfAll = 1000;

export class ApprovalLedger implements Approvals, Disposable {
  private readonly ended = new DisposableStore('approvals of the user');
  private readonly changes = this.ended.add(new Emitter<void>());
  private state = understood(empty);
  /** Approvals of this process only: not stored, or not trusted from there. */
  private here: readonly LaunchDescription[] = [];

  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: ApprovalLedgerDeps) {
    const { store } = deps;
    this.ended.add(
      store.onDidChange(() => {
        const { content } = store;
        if (content.kind === 'unreadable')
          this.state = { kind: 'unusable', reason: content.reason };
        else this.state = understood(content.kind === 'text' ? content.text : empty);
        this.changes.fire();
      }),
    );
  }

  /** Until then nothing is approved. */
  load(): Promise<void> {
    return this.deps.store.open();
  }

  /** Says why the stored approvals do not count, and how to mend that. */
  get problem(): string | undefined {
    const { state } = this;
    if (state.kind !== 'unusable') return undefined;
    return `${this.deps.store.path} approves nothing, because ${state.reason}. Mend it, or rename it and approve again.`;
  }

  get servers(): readonly ApprovedServer[] {
    const all = [...this.launches, ...this.here];
    return [...new Map(all.map((one) => [keyOf(one), one])).values()];
  }

  judge(launch: LaunchDescription): ApprovalVerdict {
    const { asks, startsRevoked } = this.deps;
    const isAsked = asks() || (startsRevoked !== true && this.mayBeRevoked(launch));
    return isAsked ? this.judgeAsking(launch) : 'notAsked';
  }

  judgeAsking(launch: LaunchDescription): ApprovalVerdict {
    if (this.deps.isUsersOwn?.(launch.source)) return this.judgeUsersOwn(launch);
    const known = this.known(folderOf(launch.source));
    const isApproved = known.some(({ fingerprint }) => fingerprint === launch.fingerprint);
    return isApproved || known.some((other) => this.isShared(launch, other))
      ? 'approved'
      : 'pending';
  }

  /**
   * Both folders must still be worktrees of the repository, because another one may be in its place
   * now (S1k).
   */
  private isShared({ source, worktree }: LaunchDescription, other: LaunchDescription): boolean {
    if (worktree?.fingerprint === undefined || worktree.fingerprint !== other.worktree?.fingerprint)
      return false;
    if (!this.known(folderOf(other.source)).includes(other)) return false;
    return [source, other.source].every(
      (file) => worktreeOf(file)?.repository === worktree.repository,
    );
  }

  /**
   * The person wrote these. They are asked once about each folder of the workspace in which one
   * runs.
   */
  private judgeUsersOwn(launch: LaunchDescription): ApprovalVerdict {
    const { source, directory } = launch;
    if (directory === undefined || !this.deps.isInWorkspace?.(directory)) return 'notAsked';
    const isApproved = this.known(directory).some(
      (other) => other.source === source && other.directory === directory,
    );
    return isApproved ? 'approved' : 'pending';
  }

  approvedBefore(launch: ApprovedServer): LaunchDescription | undefined {
    return this.known(folderOf(launch.source)).findLast((other) => sameServer(other, launch));
  }

  isKept({ source, directory }: LaunchDescription): boolean {
    return !this.isDistrusted(
      this.deps.isUsersOwn?.(source) ? (directory ?? source) : folderOf(source),
    );
  }

  /** Approves exactly these launches until this process ends, whatever the servers are now. */
  allow(launches: readonly LaunchDescription[]): void {
    this.here = [...this.here, ...launches];
    this.changes.fire();
  }

  async approve(launches: readonly LaunchDescription[]): Promise<void> {
    this.allow(launches);
    const kept = launches.filter((launch) => this.isKept(launch));
    if (kept.length === 0) return;
    await this.change((whole) => withApproved(whole, kept));
    this.here = this.here.filter((launch) => !kept.includes(launch));
  }

  /**
   * Forgets every approval of this server in all worktrees, and its offers. Resolves when that is
   * stored.
   */
  async revoke(server: ApprovedServer): Promise<void> {
    // A later product could take an unknown entry of the server for its approval.
    const isOther = (one: unknown) => !isServer(one) || !sameServer(one, server);
    const without = (whole: Whole): Whole => ({
      ...whole,
      approvals: whole.approvals.filter(isOther),
      revoked: [...whole.revoked.filter(isOther), { server: server.server, source: server.source }],
    });
    this.here = this.here.filter(isOther);
    if (this.state.kind === 'usable') this.state = usable(without(this.state.whole));
    this.changes.fire();
    this.deps.forgetOffers?.(server);
    await this.change(without);
  }

  recheck(): void {
    this.changes.fire();
  }

  dispose(): void {
    this.ended.dispose();
  }

  private get launches(): readonly LaunchDescription[] {
    return this.state.kind === 'usable' ? this.state.launches : [];
  }

  /** An unusable store does not say what was revoked. */
  private mayBeRevoked(launch: LaunchDescription): boolean {
    return (
      this.state.kind === 'unusable' || this.state.revoked.some((one) => sameServer(one, launch))
    );
  }

  private known(folder: string): readonly LaunchDescription[] {
    return this.isDistrusted(folder) ? this.here : [...this.launches, ...this.here];
  }

  /**
   * Such a folder could bring its own approvals, or another user made it at the path of the
   * person's folder (S1h).
   */
  private isDistrusted(folder: string): boolean {
    return isBelow(this.deps.store.path, folder) || ![folder, `${folder}/.minds`].every(isPersons);
  }

  private change(edit: (whole: Whole) => Whole): Promise<void> {
    return this.deps.store.change((text = empty) => {
      const before = understood(text);
      if (before.kind === 'unusable') throw new Error(before.reason);
      const after = edit(before.whole);
      const approvals = after.approvals.slice(-mostOfAll);
      const revoked = after.revoked.slice(-mostOfAll);
      return `${JSON.stringify(
        {
          ...after,
          approvals,
          revoked,
        },
        null,
        1,
      )}\n`;
    });
  }
}

function withApproved(whole: Whole, approved: readonly LaunchDescription[]): Whole {
  const again = new Set(approved.map(({ fingerprint }) => fingerprint));
  const isBefore = (one: unknown) => isDescription(one) && again.has(one.fingerprint);
  let approvals = [...whole.approvals.filter((one) => !isBefore(one)), ...approved];
  for (const launch of approved) {
    const own = approvals.filter((one) => isDescription(one) && sameServer(one, launch));
    const surplus = new Set(own.slice(0, -mostLaunches));
    approvals = approvals.filter((one) => !surplus.has(one));
  }
  const isApproved = (one: unknown) =>
    isServer(one) && approved.some((other) => sameServer(one, other));
  return {
    ...whole,
    approvals,
    revoked: whole.revoked.filter((one) => !isApproved(one)),
  };
}

function understood(text: string): Stored {
  const unusable = (reason: string): Stored => ({ kind: 'unusable', reason });
  const stored = storedJson(text);
  if (!isObject(stored)) return unusable('it is no whole JSON object');
  const { version, approvals, revoked = [] } = stored;
  if (version !== 1) return unusable('another version of MCP Toolsets wrote it');
  if (!Array.isArray(approvals) || !Array.isArray(revoked))
    return unusable('it has no list of approvals');
  return usable({
    ...stored,
    approvals,
    revoked,
  });
}

function usable(whole: Whole): Stored {
  const launches = whole.approvals.filter(isDescription);
  return {
    kind: 'usable',
    whole,
    launches,
    revoked: whole.revoked.filter(isServer),
  };
}

export function sameServer(a: ApprovedServer, b: ApprovedServer): boolean {
  return a.server === b.server && (a.source === b.source || keyOf(a) === keyOf(b));
}

function keyOf({ server, source, worktree = worktreeOf(source) }: ApprovedServer): string {
  return JSON.stringify([
    server,
    ...(worktree ? [worktree.repository, worktree.within] : [source]),
  ]);
}

function isServer(value: unknown): value is ApprovedServer {
  if (
    !hasFields(value, {
      server: 'string',
      source: 'string',
      worktree: 'object?',
    })
  )
    return false;
  const place = {
    repository: 'string',
    within: 'string',
    fingerprint: 'string?',
  };
  return value['worktree'] === undefined || hasFields(value['worktree'], place);
}

function isDescription(value: unknown): value is LaunchDescription {
  if (!isServer(value) || !hasFields(value, { fingerprint: 'string', parts: 'object' }))
    return false;
  const part = {
    label: 'string',
    shown: 'string',
    digest: 'string?',
  };
  return Array.isArray(value['parts']) && value['parts'].every((one) => hasFields(one, part));
}
