/**
 * Asks about documents that a person is to read first. The editor hides a message after 10 s, which is less than reading
 * takes, so a button in the title of the documents says yes as long as they are open (S1, S3, C6).
 *
 * Invariant: a button agrees to what its own document shows, and only while the question about that is open. Without the
 * address of such a document, which cannot be guessed, the commands behind the buttons do nothing.
 */
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import { inert } from '../../core/base/inert.js';
import { window } from './inertEditor.js';
import type { ReadOnlyDocuments } from './readOnlyDocuments.js';

/** What agrees, by the address of a document that is asked about. */
const open = new Map<string, () => void>();

interface Review {
  readonly now: string;
  /** What there was instead; undefined where there was nothing. */
  readonly before: string | undefined;
}

/**
 * Shows a review, beside what there was before. Resolves to the documents that are asked about.
 * @param agreed how it is called when the person has agreed
 */
export async function showReview(
  documents: ReadOnlyDocuments,
  { now, before }: Review,
  what: 'MCP servers' | 'MCP tools',
  agreed: 'approved' | 'accepted',
): Promise<readonly vscode.Uri[]> {
  const right = documents.add(`${what}, to be ${agreed}.txt`, now);
  if (before === undefined) await vscode.window.showTextDocument(right, { preview: true });
  else {
    const left = documents.add(`${what}, ${agreed} before.txt`, before);
    const title = inert`${what}: ${agreed} before ↔ to be ${agreed}`;
    await vscode.commands.executeCommand('vscode.diff', left, right, title, { preview: true });
  }
  return [right];
}

/**
 * Resolves to what the message brings, or to `yes` where the person agrees in the title of a document before that.
 * @param asked The message that asks; it stays where the editor keeps what it has hidden, and its answer means nothing then.
 */
export async function answerBeside<Answer extends string>(
  documents: readonly vscode.Uri[],
  asked: Thenable<Answer | undefined>,
  yes: NoInfer<Answer>,
): Promise<Answer | undefined> {
  const agreed = new Promise<Answer>((resolve) => {
    for (const uri of documents) open.set(uri.toString(), () => resolve(yes));
  });
  try {
    return await Promise.race([asked, agreed]);
  } finally {
    for (const uri of documents) open.delete(uri.toString());
  }
}

/** Registers the commands of the buttons, one for each word by which a person agrees. */
export function registerReviewAnswers(): Disposable {
  const store = new DisposableStore('review answers');
  for (const name of ['approveShown', 'acceptShown', 'importShown', 'writeShown']) {
    store.add(
      vscode.commands.registerCommand(`mcpToolsets.${name}`, (shown: unknown) => {
        const agree = shown instanceof vscode.Uri ? open.get(shown.toString()) : undefined;
        if (agree) agree();
        else void window.showInformationMessage(inert`This question was already answered, or the review has ended.`);
      }),
    );
  }
  return store;
}
