/**
 * *Accept Changed Tools* (S3). Other extensions can run the command, but its argument can only
 * reduce what the review shows.
 */
import { said } from '../../core/base/language.js';
import * as vscode from 'vscode';
import type { OfferName } from '../../core/approval/offerPrints.js';
import { inert } from '../../core/base/inert.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { fileLabel } from '../views/places.js';
import { commands, tell } from '../views/inertEditor.js';
import { ReadOnlyDocuments } from '../views/review/readOnlyDocuments.js';
import { agreedInReview } from '../views/review/reviewQuestion.js';
import { nodeOf, serverOf, type Subject } from '../views/rows/subject.js';

const words = () => import('../../core/approval/offerReview.js');

export function showChangedOffers(slot: EngineSlot): vscode.Disposable {
  const reviews = new ReadOnlyDocuments({
    scheme: 'mcp-toolsets-changes',
    gone: said`This review has ended.`,
    most: 20,
  });
  const texts = new ReadOnlyDocuments({ scheme: 'mcp-toolsets-texts', most: 20 });
  const command = commands({
    acceptTools: async (subject) => {
      const names = changedNames(subject);
      if (names.length > 0) await review(names, false);
      else tell(inert`Nothing has changed since you let the MCP servers start.`);
    },
    whatAgentsRead: async () => {
      const { whatAgentsRead } = await words();
      const { now, before = '' } = whatAgentsRead(slot.toolsets);
      const listed = [said`As the servers list it.txt`, before] as const;
      const read = [said`What agents read.txt`, now] as const;
      return texts.compare(listed, read, said`What Agents Read`);
    },
  });
  return vscode.Disposable.from(reviews, texts, command);

  function changedNames(subject: Subject): readonly OfferName[] {
    const server = serverOf(subject);
    const one = nodeOf(subject)?.changed;
    return slot.state.snapshot.servers
      .filter(({ id }) => server === undefined || id === server)
      .flatMap(({ changedOffers }) => changedOffers)
      .filter(({ kind, original }) => !one || (one.kind === kind && one.original === original));
  }

  async function review(names: readonly OfferName[], isAgain: boolean): Promise<void> {
    const offers = slot.engine?.offers;
    const changes = (await offers?.changesNamed(names)) ?? [];
    if (!offers || changes.length === 0) return;
    const { changeDescription, changeLabel, offerQuestion, offerReview } = await words();
    const accepted = await agreedInReview(changes, {
      ...offerReview(changes, fileLabel),
      documents: reviews,
      yes: 'Accept',
      question: offerQuestion(changes, isAgain),
      item: (change) => ({ label: changeLabel(change), description: changeDescription(change) }),
      pick: {
        placeHolder: inert`Choose the changes to accept`,
        title: inert`Accept Changed Tools`,
      },
    });
    if (!accepted) return;
    offers.accept(accepted);
    // Values that changed during the question need another one.
    await review(accepted, true);
  }
}
