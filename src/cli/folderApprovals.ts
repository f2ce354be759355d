/**
 * Decides which servers a command may start (S1i): those that the person approved, anywhere or when
 * `ask` asks.
 */
import path from 'node:path';
import { launchOf } from '../core/approval/approvals.js';
import { approveCommand, commandLine, reviewTexts } from '../core/approval/approvalTexts.js';
import type { LaunchDescription } from '../core/approval/fingerprint.js';
import { ApprovalLedger } from '../core/approval/ledger.js';
import { homedir } from '../core/base/home.js';
import { systemClock } from '../core/base/clock.js';
import { isInside, realPath, samePath } from '../core/base/paths.js';
import { isEnabled, type ConfiguredServer } from '../core/config/model.js';
import { approvalsFile, isUserFile } from '../core/config/sources.js';
import { SharedFile } from '../core/files/sharedFile.js';
import type { StatusSnapshot } from '../core/reconcile/status.js';
import { complain, newLines, reasonOf } from './output.js';
import { agreesOnTerminal } from './terminalQuestion.js';

export interface Consent {
  /** True if everything may start, for this run. */
  readonly approve: boolean;
  /** False for a command that an agent starts: it must not ask on the terminal. */
  readonly asks?: boolean;
}

/** In one question. All of them have room on a small screen. */
const mostAtOnce = 4;

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
      startsRevoked: !asks,
      isUsersOwn: (source) => isUserFile(source, [folder], homedir()),
      isInWorkspace: (directory) => isInside(directory, folder),
    });
    const told = newLines(complain);
    ledger.onDidChange(() => told(ledger.problem === undefined ? [] : [ledger.problem]));
    await ledger.load();
    return new FolderApprovals(folder, file, ledger);
  }

  waiting(servers: readonly ConfiguredServer[]): LaunchDescription[] {
    return servers
      .filter(isEnabled)
      .flatMap((server) => launchOf(server) ?? [])
      .filter((launch) => this.ledger.judge(launch) === 'pending');
  }

  /** Asks at a terminal. Elsewhere, only a word of the person starts what waits (S1i). */
  async ask(
    waiting: readonly LaunchDescription[],
    consent: Consent,
    signal: AbortSignal,
  ): Promise<void> {
    if (consent.approve) this.ledger.allow(waiting);
    else if (consent.asks !== false) await this.approve(await this.agreed(waiting, signal));
  }

  /** Resolves to the launches that the person lets start; none without a terminal. */
  async agreed(
    waiting: readonly LaunchDescription[],
    signal: AbortSignal,
  ): Promise<readonly LaunchDescription[]> {
    let agreed: readonly LaunchDescription[] = [];
    for (let at = 0; at < waiting.length && !signal.aborted; at += mostAtOnce) {
      const some = waiting.slice(at, at + mostAtOnce);
      const what = some.length === 1 ? `"${some[0]?.server}"` : `these ${some.length} servers`;
      const about = some.map((launch) => `${launch.server}: ${commandLine(launch)}`);
      const agreement = { review: this.review(some), about, question: `Let ${what} start?` };
      if (await agreesOnTerminal(agreement, signal)) agreed = [...agreed, ...some];
    }
    return agreed;
  }

  /** Resolves to false if the approval ends with this run (S1h). */
  async approve(waiting: readonly LaunchDescription[]): Promise<boolean> {
    try {
      await this.ledger.approve(waiting);
    } catch (error) {
      complain(
        `The approval could not be stored, so it holds for this run only: ${reasonOf(error)}.`,
      );
      return false;
    }
    const passing = waiting
      .filter((launch) => !this.ledger.isKept(launch))
      .map(({ server }) => `"${server}"`);
    if (passing.length === 0) return true;
    complain(
      `The approval of ${passing.join(', ')} holds for this run only: ${this.file.path} lies in the folder of the config file, or another user owns that folder, so it could bring its own approvals. \`mcp-toolsets serve\` asks at each start.`,
    );
    return false;
  }

  review(waiting: readonly LaunchDescription[]): string {
    const pending = waiting.map((launch) => ({
      launch,
      before: this.ledger.approvedBefore(launch),
    }));
    const real = realPath(this.folder);
    const label = (file: string): string =>
      file.startsWith(real + path.sep) ? path.relative(real, file) : file;
    const changed = pending
      .filter(({ before }) => before)
      .map(({ launch }) => `"${launch.server}"`);
    const note =
      changed.length > 0 ? `Changed since it was approved: ${changed.join(', ')}.\n\n` : '';
    return note + reviewTexts(pending, label).now;
  }

  /**
   * Returns one line about all servers that wait, or none. @param asks false if the command does
   * not take --approve
   */
  waitingLines({ servers }: Pick<StatusSnapshot, 'servers'>, asks: boolean): string[] {
    const waiting = servers.flatMap(({ approval }) =>
      approval.kind === 'pending' ? [approval.launch] : [],
    );
    if (waiting.length === 0) return [];
    const it = waiting.length === 1 ? 'it' : 'them';
    return [`${this.waitingLine(waiting)}${asks ? ` --approve starts ${it} for this run.` : ''}`];
  }

  waitingLine(waiting: readonly LaunchDescription[]): string {
    const ids = waiting.map(({ server }) => server);
    const [wait, it] = ids.length === 1 ? ['waits', 'it'] : ['wait', 'them'];
    const folder = samePath('.', this.folder) ? undefined : this.folder;
    const how = waiting.every((launch) => this.ledger.isKept(launch))
      ? `Run \`${approveCommand(ids.join(' '), folder)}\`, or approve ${it} in the editor.`
      : 'An approval holds for one run here, because the folder holds the approvals or is another user’s. At a terminal, every command but `connect` asks.';
    return `${ids.join(', ')} ${wait} for approval. ${how}`;
  }

  dispose(): void {
    this.ledger.dispose();
    this.file.dispose();
  }
}
