/**
 * Decides which servers a command may start (S1i): the servers that the person approved, anywhere or when
 * `ask` asks.
 */
import path from 'node:path';
import {
  approveCommand,
  commandLine,
  differsInVersion,
  reviewTexts,
  type PendingLaunch,
} from '../core/approval/approvalTexts.js';
import { homedir } from '../core/base/home.js';
import { systemClock } from '../core/base/clock.js';
import { realPath, samePath } from '../core/base/paths.js';
import { PersonsApprovals, type ApprovalOutcome } from '../core/engine/personsApprovals.js';
import type { StatusSnapshot } from '../core/reconcile/status.js';
import type { ReadFolder } from './configFile.js';
import { markedReview } from './markedReview.js';
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

export class FolderApprovals extends PersonsApprovals {
  private constructor(
    private readonly read: ReadFolder,
    asks: boolean,
  ) {
    super({
      clock: systemClock,
      home: homedir(),
      folders: () => [read.folder],
      asks: () => asks,
      startsRevoked: !asks,
      pollMs: 500,
    });
  }

  /** @param asks false if every server of the files may start, now and later */
  static async open(read: ReadFolder, asks = true): Promise<FolderApprovals> {
    const approvals = new FolderApprovals(read, asks);
    const { ledger } = approvals;
    const told = newLines(complain);
    ledger.onDidChange(() => told(ledger.problem === undefined ? [] : [ledger.problem]));
    await ledger.load();
    return approvals;
  }

  /** Asks at a terminal. Elsewhere, only a word of the person starts what waits (S1i). */
  async askAtStart(
    waiting: readonly PendingLaunch[],
    consent: Consent,
    signal: AbortSignal,
  ): Promise<void> {
    if (consent.approve) this.ledger.allow(waiting.map(({ launch }) => launch));
    else if (consent.asks !== false)
      this.report(await this.ask(waiting, (pending) => this.agreed(pending, signal)));
  }

  /** Resolves to the launches that the person lets start; none without a terminal. */
  async agreed(
    waiting: readonly PendingLaunch[],
    signal: AbortSignal,
  ): Promise<readonly PendingLaunch[]> {
    let agreed: readonly PendingLaunch[] = [];
    for (let at = 0; at < waiting.length && !signal.aborted; at += mostAtOnce) {
      const some = waiting.slice(at, at + mostAtOnce);
      const what =
        some.length === 1 ? `"${some[0]?.launch.server}"` : `these ${some.length} servers`;
      const about = some.map(({ launch }) => `${launch.server}: ${commandLine(launch)}`);
      const agreement = {
        review: this.review(some),
        about,
        question: `Let ${what} start?`,
      };
      if (await agreesOnTerminal(agreement, signal)) agreed = [...agreed, ...some];
    }
    return agreed;
  }

  /** Returns false, with a line that says why, if an approval ends with this run (S1h). */
  report(outcome: ApprovalOutcome): boolean {
    if (outcome.kind === 'notStored') {
      complain(
        `The approval could not be stored, so it holds for this run only: ${reasonOf(outcome.error)}. Where nothing can be stored, --approve starts all servers of a run.`,
      );
      return false;
    }
    if (outcome.passing.length === 0) return true;
    const passing = outcome.passing.map(({ server }) => `"${server}"`).join(', ');
    complain(
      `The approval of ${passing} holds for this run only: ${this.file.path} lies in the folder of the config file, or another user owns that folder, so it could bring its own approvals. \`mcp-toolsets serve\` asks at each start.`,
    );
    return false;
  }

  review(pending: readonly PendingLaunch[]): string {
    const real = realPath(this.read.folder);
    const label = (file: string): string =>
      file.startsWith(real + path.sep) ? path.relative(real, file) : file;
    const changed = pending
      .filter(({ before }) => before)
      .map(({ launch }) => `"${launch.server}"`);
    const isVersion =
      changed.length > 0 && pending.every((one) => !one.before || differsInVersion(one));
    const versions = isVersion ? ' Only the version of its package differs.' : '';
    const note =
      changed.length > 0
        ? `Changed since it was approved: ${changed.join(', ')}.${versions} The lines with - were approved, those with + are new.\n\n`
        : '';
    return note + markedReview(reviewTexts(pending, label));
  }

  /**
   * Returns one line about all servers that wait, or none. @param asks false if the command does
   * not take --approve
   */
  waitingLines(snapshot: Pick<StatusSnapshot, 'servers'>, asks: boolean): string[] {
    const waiting = this.waitingIn(snapshot);
    if (waiting.length === 0) return [];
    const it = waiting.length === 1 ? 'it' : 'them';
    return [`${this.waitingLine(waiting)}${asks ? ` --approve starts ${it} for this run.` : ''}`];
  }

  waitingLine(waiting: readonly PendingLaunch[]): string {
    const ids = waiting.map(({ launch }) => launch.server);
    const [wait, it] = ids.length === 1 ? ['waits', 'it'] : ['wait', 'them'];
    const { folder, withoutLocal } = this.read;
    const place = samePath('.', folder) ? undefined : folder;
    const words = (withoutLocal ? [...ids, '--no-local'] : ids).join(' ');
    // The editor has only the launches with the layer.
    const other = withoutLocal ? '' : `, or approve ${it} in the editor`;
    const how = waiting.every(({ launch }) => this.ledger.isKept(launch))
      ? `Run \`${approveCommand(words, place)}\`${other}.`
      : 'An approval holds for one run here, because the folder holds the approvals or is another user’s. At a terminal, every command but `connect` asks.';
    return `${ids.join(', ')} ${wait} for approval. ${how}`;
  }
}
