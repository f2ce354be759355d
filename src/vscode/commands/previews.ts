/** Shows the change of a file as a difference with a report, and asks whether to write it. */
import * as vscode from 'vscode';
import type { Inert } from '../../core/base/inert.js';
import { applyEdits, type TextEdit } from '../../core/yaml/edits.js';
import { window } from '../views/inertEditor.js';
import { ReadOnlyDocuments } from '../views/review/readOnlyDocuments.js';
import { answerBeside } from '../views/review/reviewQuestion.js';

interface Preview {
  readonly name: string;
  readonly before: string;
  readonly title: string;
  readonly report?: { readonly name: string; readonly text: string };
}

interface ProposedChange<Plan> {
  /** Must be unique among documents. */
  readonly scheme: string;
  /** Rejects with a sentence for a person if the change is impossible. */
  readonly plan: () => Promise<Plan>;
  /** Undefined if the plan needs no agreement. */
  readonly preview: (plan: Plan) => Promise<Preview | undefined>;
  /** Undefined if the plan has nothing to write. The preview stays open. */
  readonly question: (plan: Plan) => Inert | undefined;
  readonly yes: 'Import' | 'Write' | 'Remove';
}

export async function agreedChange<Plan extends { readonly after: string }>(
  change: ProposedChange<Plan>,
): Promise<Plan | undefined> {
  const documents = new ReadOnlyDocuments({ scheme: change.scheme });
  try {
    for (let shown: string | undefined; ;) {
      const plan = await change.plan();
      // If the files changed during the question, the person sees the new difference first.
      const preview = shown === plan.after ? undefined : await change.preview(plan);
      if (!preview) {
        await documents.closeTabs();
        return plan;
      }
      shown = plan.after;
      const uris = await show(documents, preview, plan.after);
      const question = change.question(plan);
      if (question === undefined) return undefined;
      const asked = window.showInformationMessage(question, change.yes, 'Not Now');
      if ((await answerBeside(uris, asked, change.yes)) !== change.yes) return undefined;
    }
  } finally {
    documents.dispose();
  }
}

interface AgreedPlan {
  readonly edits: readonly TextEdit[];
  readonly after: string;
}

/** Returns the edits that a person agreed to. They throw if the file has changed since. */
export function asAgreed(
  { edits, after }: AgreedPlan,
  name: string,
): (text: string | undefined) => readonly TextEdit[] {
  return (text = '') => {
    if (applyEdits(text, edits) === after) return edits;
    throw new Error(`${name} changed after you saw the preview, so nothing was written. Try again.`);
  };
}

async function show(documents: ReadOnlyDocuments, preview: Preview, after: string): Promise<readonly vscode.Uri[]> {
  const { name, before, title, report } = preview;
  await documents.closeTabs();
  const [left, right] = [documents.add(name, before), documents.add(name, after)];
  await vscode.commands.executeCommand('vscode.diff', left, right, title, { preview: false });
  if (!report) return [right];
  const beside = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: false };
  const page = documents.add(report.name, report.text);
  await vscode.window.showTextDocument(page, beside);
  return [right, page];
}
