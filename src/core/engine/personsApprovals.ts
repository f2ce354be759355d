/**
 * The way of an approval (S1), the same for every shell: what waits, the question, the ledger. A
 * shell brings the question and reports the outcome. Invariant: only launches that the question
 * returns, or that the person named, are approved.
 */
import { launchOf } from '../approval/approvals.js';
import type { PendingLaunch } from '../approval/approvalTexts.js';
import type { LaunchDescription } from '../approval/fingerprint.js';
import { ApprovalLedger, sameServer, type ApprovedServer } from '../approval/ledger.js';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { isInside, samePath } from '../base/paths.js';
import { isEnabled, type ConfiguredServer } from '../config/model.js';
import { approvalsFile, isUserFile } from '../config/sources.js';
import { SharedFile } from '../files/sharedFile.js';
import type { StatusSnapshot } from '../reconcile/status.js';

interface ApprovalsOptions {
  readonly clock: Clock;
  readonly home: string;
  /** The folders of the workspace. A start in one of them needs an approval. */
  readonly folders: () => readonly string[];
  /** True if the person wants to be asked. */
  readonly asks: () => boolean;
  /** True if a server needs no question even after a person revoked its approval. */
  readonly startsRevoked?: boolean;
  readonly forgetOffers?: (server: ApprovedServer) => void;
  /** The time between two looks at the file, in milliseconds. */
  readonly pollMs?: number;
}

/** `passing`: the approvals of these launches end with this process, because of their folder. */
export type ApprovalOutcome =
  | { readonly kind: 'stored'; readonly passing: readonly LaunchDescription[] }
  | { readonly kind: 'notStored'; readonly error: unknown };

/** Resolves to the launches that the person lets start. */
type Question = (pending: readonly PendingLaunch[]) => Promise<readonly PendingLaunch[]>;

export class PersonsApprovals implements Disposable {
  /** All windows and commands of the user share this file. */
  readonly file: SharedFile;
  readonly ledger: ApprovalLedger;

  constructor({ clock, home, folders, pollMs, ...rules }: ApprovalsOptions) {
    this.file = new SharedFile(approvalsFile(home), clock, pollMs);
    this.ledger = new ApprovalLedger({
      ...rules,
      store: this.file,
      // The user's own file needs no approval, unless the workspace brings it along.
      isUsersOwn: (source) => isUserFile(source, folders(), home),
      isInWorkspace: (directory) => folders().some((folder) => isInside(directory, folder)),
    });
  }

  /** Returns the launches that would wait if these servers were started. */
  waitingOf(servers: readonly ConfiguredServer[]): PendingLaunch[] {
    return servers
      .filter(isEnabled)
      .flatMap((server) => launchOf(server) ?? [])
      .filter((launch) => this.ledger.judge(launch) === 'pending')
      .map((launch) => ({ launch, before: this.ledger.approvedBefore(launch) }));
  }

  /** Returns the launches that wait now. */
  waitingIn({ servers }: Pick<StatusSnapshot, 'servers'>): PendingLaunch[] {
    return servers.flatMap(({ approval, previous }) => {
      if (approval.kind !== 'pending') return [];
      const { launch } = approval;
      const before = this.ledger.approvedBefore(launch);
      return [
        {
          launch,
          before,
          isServed: previous !== undefined,
        },
      ];
    });
  }

  /**
   * Returns the approved servers of these files, also those approved in another worktree. The ledger
   * has other folders too.
   */
  approvedIn(files: readonly string[]): ApprovedServer[] {
    const isOf = (approved: ApprovedServer, source: string): boolean =>
      samePath(source, approved.source) ||
      sameServer(approved, { server: approved.server, source });
    return this.ledger.servers.filter((each) => files.some((file) => isOf(each, file)));
  }

  /** Asks, and approves what the person agreed to. */
  async ask(pending: readonly PendingLaunch[], question: Question): Promise<ApprovalOutcome> {
    const agreed = await question(pending);
    return agreed.length > 0 ? await this.approve(agreed) : { kind: 'stored', passing: [] };
  }

  /** Never rejects. An approval that cannot be stored holds in this process. */
  async approve(agreed: readonly PendingLaunch[]): Promise<ApprovalOutcome> {
    const launches = agreed.map(({ launch }) => launch);
    try {
      await this.ledger.approve(launches);
    } catch (error) {
      return { kind: 'notStored', error };
    }
    return { kind: 'stored', passing: launches.filter((launch) => !this.ledger.isKept(launch)) };
  }

  dispose(): void {
    this.ledger.dispose();
    this.file.dispose();
  }
}
