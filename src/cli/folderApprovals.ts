/** Decides which servers a command may start (S1i): each server that the person approved anywhere, and each server that `ask` adds. */
import { homedir } from 'node:os';
import path from 'node:path';
import { launchOf } from '../core/approval/approvals.js';
import { approveCommand, reviewTexts } from '../core/approval/approvalTexts.js';
import type { LaunchDescription } from '../core/approval/fingerprint.js';
import { ApprovalLedger } from '../core/approval/ledger.js';
import { systemClock } from '../core/base/clock.js';
import { realPath, samePath } from '../core/base/paths.js';
import { isEnabled, type ConfiguredServer } from '../core/config/model.js';
import { approvalsFile, isUserFile } from '../core/config/sources.js';
import { isInsideAny } from '../core/files/realFiles.js';
import { SharedFile } from '../core/files/sharedFile.js';
import type { StatusSnapshot } from '../core/reconcile/status.js';
import { complain, reasonOf } from './output.js';
import { agreesOnTerminal, isTerminal } from './terminalQuestion.js';

export interface Consent {
  /** True if everything may start, for this run. */
  readonly approve: boolean;
  /** False for a command that an agent starts: it must not ask on the terminal, and only approved servers start. */
  readonly asks?: boolean;
  /** True for a program that goes on, and that perhaps nobody watches. */
  readonly goesOn?: boolean;
}

export class FolderApprovals {
  private constructor(
    private readonly folder: string,
    private readonly file: SharedFile,
    readonly ledger: ApprovalLedger,
  ) {}

  /** @param asks false if every server of the files may start, now and later */
  static async open(folder: string, asks = true): Promise<FolderApprovals> {
    const file = new SharedFile(approvalsFile(homedir()), systemClock, 500);
    const ledger = new ApprovalLedger({
      store: file,
      asks: () => asks,
      isUsersOwn: (source) => isUserFile(source, [folder], homedir()),
      isInWorkspace: (directory) => isInsideAny(directory, [folder]),
    });
    await ledger.load();
    if (file.refused !== undefined) complain(`${file.path} is not used: ${file.refused}.`);
    return new FolderApprovals(folder, file, ledger);
  }

  waiting(servers: readonly ConfiguredServer[]): LaunchDescription[] {
    return servers
      .filter(isEnabled)
      .flatMap((server) => launchOf(server) ?? [])
      .filter((launch) => this.ledger.judge(launch) === 'pending');
  }

  /** Asks at a terminal. Elsewhere, the command is the consent to servers of the folder that were never approved (S1i). */
  async ask(waiting: readonly LaunchDescription[], consent: Consent, signal: AbortSignal): Promise<void> {
    if (waiting.length === 0) return;
    if (consent.approve) this.ledger.allow(waiting);
    else if (consent.asks === false) return;
    else if (isTerminal()) {
      if (await this.agrees(waiting, signal)) await this.approve(waiting);
    } else {
      // A program that goes on is it only while nothing is approved, as in CI, or if no approval can be kept (S1h).
      const isConsent = !consent.goesOn || this.ledger.servers.length === 0;
      const isNew = (one: LaunchDescription): boolean =>
        !isUserFile(one.source, [this.folder], homedir()) && this.ledger.approvedBefore(one) === undefined;
      this.ledger.allow(waiting.filter((one) => isNew(one) && (isConsent || !this.ledger.isKept(one))));
    }
  }

  agrees(waiting: readonly LaunchDescription[], signal: AbortSignal): Promise<boolean> {
    const what = waiting.length === 1 ? `"${waiting[0]?.server}"` : `these ${waiting.length} servers`;
    return agreesOnTerminal(`${this.review(waiting)}\nLet ${what} start?`, signal);
  }

  /** Resolves to true if the approval outlives this run. */
  async approve(waiting: readonly LaunchDescription[]): Promise<boolean> {
    try {
      await this.ledger.approve(waiting);
    } catch (error) {
      complain(`The approval could not be stored, so it holds for this run only: ${reasonOf(error)}.`);
      return false;
    }
    const passing = this.passing(waiting);
    if (passing !== undefined) complain(passing);
    return passing === undefined;
  }

  /** Returns why approvals of these hold for one run only (S1h), or undefined if all are kept. */
  passing(waiting: readonly LaunchDescription[]): string | undefined {
    const names = waiting.filter((launch) => !this.ledger.isKept(launch)).map(({ server }) => `"${server}"`);
    if (names.length === 0) return undefined;
    return `The approval of ${names.join(', ')} holds for this run only: ${this.file.path} lies in the folder of the config file, which could bring its own approvals. \`mcp-toolsets serve\` asks at each start.`;
  }

  review(waiting: readonly LaunchDescription[]): string {
    const pending = waiting.map((launch) => ({ launch, before: this.ledger.approvedBefore(launch) }));
    const real = realPath(this.folder);
    const label = (file: string): string => (file.startsWith(real + path.sep) ? path.relative(real, file) : file);
    const changed = pending.filter(({ before }) => before).map(({ launch }) => `"${launch.server}"`);
    const note = changed.length > 0 ? `Changed since it was approved: ${changed.join(', ')}.\n\n` : '';
    return note + reviewTexts(pending, label).now;
  }

  waitingLines({ servers }: Pick<StatusSnapshot, 'servers'>): string[] {
    const folder = samePath('.', this.folder) ? undefined : this.folder;
    return servers.flatMap(({ id, approval }) => {
      if (approval.kind !== 'pending') return [];
      const how =
        approval.isKept === false
          ? 'An approval holds for one run here. At a terminal, every command but `connect` asks.'
          : `Run \`${approveCommand(id, folder)}\`, or approve it in the editor.`;
      return [`${id} waits for approval. ${how}`];
    });
  }

  dispose(): void {
    this.ledger.dispose();
    this.file.dispose();
  }
}
