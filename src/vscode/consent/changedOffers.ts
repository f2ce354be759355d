/**
 * *Accept Changed Tools*: shows what changed or came since a server was approved beside what it was, and then asks (S3).
 *
 * Invariant: nothing is accepted that was not shown. The ledger accepts the values that stand in the document; what is
 * another by the time of the answer is shown and asked about again. Anyone can run the command, with anything as its
 * argument, which does no more than narrow down what is shown.
 */
import * as vscode from 'vscode';
import type { OfferChange, OfferLedger } from '../../core/approval/offerLedger.js';
import type { OfferName } from '../../core/approval/offerPrints.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import { inert } from '../../core/base/inert.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { fileLabel } from '../views/fileLabels.js';
import { window } from '../views/inertEditor.js';
import {
  changeDescription,
  changeLabel,
  firstReview,
  offerQuestion,
  offerReview,
} from '../../core/approval/offerReview.js';
import { ReadOnlyDocuments } from '../views/review/readOnlyDocuments.js';
import { answerBeside, showReview } from '../views/review/reviewQuestion.js';
import { nodeOf, serverOf, type Subject } from '../views/rows/subject.js';

interface ChangedOffersDeps {
  readonly slot: EngineSlot;
  readonly offers: OfferLedger;
}

export function showChangedOffers({ slot, offers }: ChangedOffersDeps): Disposable {
  const store = new DisposableStore('changed offers');
  const reviews = store.add(
    new ReadOnlyDocuments({ scheme: 'mcp-toolsets-changes', gone: 'This review has ended.', most: 20 }),
  );
  store.add(
    vscode.commands.registerCommand('mcpToolsets.acceptTools', async (subject: Subject) => {
      const names = changedNames(subject);
      if (names.length === 0) {
        void window.showInformationMessage(inert`Nothing has changed since you let the MCP servers start.`);
        return;
      }
      await review(names, false);
    }),
  );
  return store;

  /** Names what waits, of the server or at the row that the command was called with. */
  function changedNames(subject: Subject): readonly OfferName[] {
    const server = serverOf(subject);
    const one = nodeOf(subject)?.changed;
    return slot.state.snapshot.servers
      .filter(({ id }) => server === undefined || id === server)
      .flatMap(({ changedOffers }) => changedOffers)
      .filter(({ kind, original }) => !one || (one.kind === kind && one.original === original));
  }

  async function review(names: readonly OfferName[], isAgain: boolean): Promise<void> {
    const changes = (await Promise.all(names.map((name) => offers.changeOf(name)))).flatMap((change) => change ?? []);
    if (changes.length === 0) return;
    const { shown, later } = firstReview(changes);
    const accepted = await ask(shown, isAgain);
    if (!accepted) return;
    offers.accept(accepted);
    // What is not as it was shown by now is another thing to ask about.
    await review(accepted, true);
    await review(later, isAgain);
  }

  /** Resolves to what the person accepts of what is shown; undefined if they did not answer. */
  async function ask(changes: readonly OfferChange[], isAgain: boolean): Promise<readonly OfferChange[] | undefined> {
    const shown = await showReview(reviews, offerReview(changes, fileLabel), 'MCP tools', 'accepted');
    const text = offerQuestion(changes, isAgain);
    const several = changes.length > 1;
    const asked = several
      ? window.showInformationMessage(text, 'Accept All', 'Choose…', 'Not Now')
      : window.showInformationMessage(text, 'Accept', 'Not Now');
    const answer = await answerBeside(shown, asked, several ? 'Accept All' : 'Accept');
    const accepted =
      answer === 'Choose…' ? await choose(changes) : answer === 'Not Now' ? undefined : answer && changes;
    if (answer !== undefined) await reviews.closeTabs();
    return accepted;
  }

  async function choose(changes: readonly OfferChange[]): Promise<readonly OfferChange[] | undefined> {
    const items = changes.map((change) => ({
      label: changeLabel(change),
      description: changeDescription(change),
      change,
    }));
    const chosen = await window.showQuickPick(items, {
      canPickMany: true,
      title: inert`Accept Changed Tools`,
      placeHolder: inert`Choose the changes to accept`,
    });
    return chosen?.map(({ change }) => change);
  }
}
