/**
 * Asks before a server of the workspace starts (S1). Other extensions can run the commands, so they
 * show the launch first.
 */
import { said, translated } from '../../core/base/language.js';
import * as vscode from 'vscode';
import { inert } from '../../core/base/inert.js';
import { commands, tell, window } from '../views/inertEditor.js';
import type { ApprovedServer } from '../../core/approval/ledger.js';
import { messageOf } from '../../core/base/text.js';
import {
  commandLine,
  dialogDetail,
  question,
  reviewTexts,
} from '../../core/approval/approvalTexts.js';
import type { PendingLaunch } from '../../core/approval/approvalTexts.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { fileLabel } from '../views/places.js';
import { onDidChangeSettings } from '../engine/settings.js';
import { ReadOnlyDocuments } from '../views/review/readOnlyDocuments.js';
import { agreedInReview } from '../views/review/reviewQuestion.js';
import { whyNone } from '../views/phrases.js';
import { serverOf } from '../views/rows/subject.js';

export function askForApprovals(slot: EngineSlot): vscode.Disposable {
  const reviews = new ReadOnlyDocuments({
    scheme: 'mcp-toolsets-approval',
    gone: said`This review has ended.`,
  });
  /** The fingerprints of waiting launches after their question. */
  let asked = new Set<string>();

  return vscode.Disposable.from(
    reviews,
    slot.onDidChange(() => {
      const waiting = launches();
      const isNew = waiting.some(({ launch }) => !asked.has(launch.fingerprint));
      asked = new Set(waiting.map(({ launch }) => launch.fingerprint));
      if (!isNew) return;
      const problem = slot.engine?.approvals.ledger.problem;
      if (problem !== undefined) void window.showWarningMessage(inert`${translated(problem)}`);
      void ask(waiting);
    }),
    onDidChangeSettings(['mcpToolsets.approval'], () => slot.engine?.approvals.ledger.recheck()),
    commands({
      approve: async (subject) => {
        const waiting = launches(serverOf(subject));
        const [only] = waiting;
        if (only && waiting.length === 1) await confirm(only);
        else await review(waiting);
      },
      reviewPending: (subject) => review(launches(serverOf(subject))),
      revoke: async (subject) => {
        const server = serverOf(subject);
        const approved = approvedServer(server);
        if (approved) await slot.engine?.approvals.ledger.revoke(approved);
        else tell(inert`You have not approved “${server ?? ''}”.`);
      },
    }),
  );

  function launches(named?: string): PendingLaunch[] {
    const waiting = slot.engine?.approvals.waitingIn(slot.state.snapshot) ?? [];
    return waiting.filter(({ launch }) => named === undefined || launch.server === named);
  }

  async function ask(waiting: readonly PendingLaunch[]): Promise<void> {
    // A notification has no room for a launch, so only the review can approve.
    const answer = await window.showInformationMessage(
      question(waiting, fileLabel),
      'Review…',
      'Not Now',
    );
    if (answer === 'Review…') await review(launches());
  }

  async function review(pending: readonly PendingLaunch[]): Promise<void> {
    if (pending.length === 0)
      return tell(inert`${whyNone(slot.state, said`No MCP server waits for approval.`)}`);
    reviews.clear();
    const agreed = await agreedInReview(pending, {
      ...reviewTexts(pending, fileLabel),
      documents: reviews,
      yes: 'Approve',
      question:
        pending.length > 1
          ? inert`Let these ${pending.length} MCP servers start?`
          : inert`Let “${pending[0]?.launch.server ?? ''}” start?`,
      item: ({ launch, before }) => ({
        label: inert`${launch.server}`,
        description: before ? inert`changed` : inert``,
        detail: inert`${commandLine(launch)}`,
      }),
      pick: { placeHolder: inert`Choose the MCP servers that may start` },
    });
    if (agreed) await approve(agreed);
  }

  async function confirm(pending: PendingLaunch): Promise<void> {
    const detail = dialogDetail(pending);
    if (detail === undefined) return await review([pending]);
    const { server, source } = pending.launch;
    const text = inert`Let the MCP server “${server}” of ${fileLabel(source)} start?`;
    const answer = await window.showInformationMessage(
      text,
      { modal: true, detail },
      'Approve',
      'Review…',
    );
    if (answer === 'Approve') await approve([pending]);
    if (answer === 'Review…') await review([pending]);
  }

  async function approve(pending: readonly PendingLaunch[]): Promise<void> {
    const outcome = await slot.engine?.approvals.approve(pending);
    if (outcome?.kind !== 'notStored') return;
    const text = inert`The approval holds in this window only, because it could not be stored: ${messageOf(outcome.error)}`;
    void window.showErrorMessage(text);
  }

  function approvedServer(named: string | undefined): ApprovedServer | undefined {
    const files = slot.sources.map(({ file }) => slot.serverOf(named)?.source ?? file);
    return slot.engine?.approvals.approvedIn(files).find(({ server }) => server === named);
  }
}
