/**
 * Asks about documents that a person reads first. The editor hides a message after 10 s, which is too short for reading. So
 * buttons in the title of the documents answer too, as long as the documents are open (S1, S3, S4, C6).
 *
 * Invariant: a button agrees to its document, and only while the question is open. The commands of the buttons need the address
 * of the document, which other extensions cannot guess.
 */
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../../core/base/disposables.js';
import { inert } from '../../../core/base/inert.js';
import { window } from '../inertEditor.js';
import type { ReadOnlyDocuments } from './readOnlyDocuments.js';

/** The open questions by the addresses of their documents. */
const open = new Map<string, (command: string) => void>();

interface Review {
  readonly now: string;
  /** The earlier text, if there is one. */
  readonly before: string | undefined;
}

/**
 * Shows a review beside the active editor, or the difference to the earlier text. Resolves to the documents that have buttons.
 * @param agreed the word for the state after the agreement
 */
export async function showReview(
  documents: ReadOnlyDocuments,
  { now, before }: Review,
  what: 'MCP servers' | 'MCP tools',
  agreed: 'approved' | 'accepted',
): Promise<readonly vscode.Uri[]> {
  await documents.closeTabs();
  const right = documents.add(`${what}, to be ${agreed}.txt`, now);
  if (before === undefined) {
    const { Active, Beside } = vscode.ViewColumn;
    const viewColumn = vscode.window.tabGroups.activeTabGroup.activeTab ? Beside : Active;
    await vscode.window.showTextDocument(right, { preview: false, viewColumn });
  } else {
    const left = documents.add(`${what}, ${agreed} before.txt`, before);
    const title = inert`${what}: ${agreed} before ↔ to be ${agreed}`;
    await vscode.commands.executeCommand('vscode.diff', left, right, title, { preview: false });
  }
  return [right];
}

/**
 * Resolves to the answer of the message or of a button in the title of a document, whichever comes first.
 * @param asked the message; after a button, a late answer to it means nothing
 * @param yes the answer of the only button, or the answers of several by the names of their commands
 */
export async function answerBeside<Answer extends string>(
  documents: readonly vscode.Uri[],
  asked: Thenable<Answer | undefined>,
  yes: NoInfer<Answer> | Readonly<Record<string, NoInfer<Answer>>>,
): Promise<Answer | undefined> {
  const agreed = new Promise<Answer>((resolve) => {
    const say = (command: string): void => {
      const answer = typeof yes === 'string' ? yes : yes[command];
      if (answer !== undefined) resolve(answer);
    };
    for (const uri of documents) open.set(uri.toString(), say);
  });
  try {
    return await Promise.race([asked, agreed]);
  } finally {
    for (const uri of documents) open.delete(uri.toString());
  }
}

/** Registers the commands of the buttons. The editor takes the label of a button from its command, so each label has one. */
export function registerReviewAnswers(): Disposable {
  const store = new DisposableStore('review answers');
  for (const name of [
    'approveShown',
    'acceptShown',
    'importShown',
    'writeShown',
    'allowShown',
    'allowAllShown',
    'refuseShown',
  ]) {
    store.add(
      vscode.commands.registerCommand(`mcpToolsets.${name}`, (shown: unknown) => {
        const answer = shown instanceof vscode.Uri ? open.get(shown.toString()) : undefined;
        if (answer) answer(name);
        else void window.showInformationMessage(inert`This question was already answered, or the review has ended.`);
      }),
    );
  }
  return store;
}
