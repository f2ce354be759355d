/**
 * Asks about documents that a person is to read first. The editor hides a message after 10 s, which is less than reading
 * takes, so buttons in the title of the documents answer as long as they are open (S1, S3, S4, C6).
 *
 * Invariant: a button agrees to what its own document shows, and only while the question about that is open. Without the
 * address of such a document, which cannot be guessed, the commands behind the buttons do nothing.
 */
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../../core/base/disposables.js';
import { inert } from '../../../core/base/inert.js';
import { window } from '../inertEditor.js';
import type { ReadOnlyDocuments } from './readOnlyDocuments.js';

/** What answers, by the address of a document that is asked about. */
const open = new Map<string, (command: string) => void>();

interface Review {
  readonly now: string;
  /** What there was instead; undefined where there was nothing. */
  readonly before: string | undefined;
}

/**
 * Shows a review beside what the person has open, or what there was before beside what there is now. Resolves to the documents that are asked about.
 * @param agreed how it is called when the person has agreed
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
 * Resolves to what the message brings, or to what a button in the title of a document says before that.
 * @param asked The message that asks; it stays where the editor keeps what it has hidden, and its answer means nothing then.
 * @param yes what the one button of the documents says, or what each says, by the name of its command
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

/** Registers the commands of the buttons, one for each word by which a person answers. */
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
