/** Edits config files and the files of other agents after a person has agreed, and shows the result. Loaded on demand. */
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Icon, inert, type Inert } from '../../core/base/inert.js';
import { userFile } from '../../core/config/sources.js';
import { configPath, localFolders } from '../engine/configFiles.js';
import { window, type InertItem } from '../views/inertEditor.js';
import { offsetOfServer } from '../../core/config/edit/addServers.js';
import { editFile, type FileChange } from '../authoring/fileEdits.js';
import { applyEdits, type TextEdit } from '../../core/yaml/edits.js';
import { openToEdit } from '../views/review/documents.js';
import { ReadOnlyDocuments } from '../views/review/readOnlyDocuments.js';
import { answerBeside } from '../views/review/reviewQuestion.js';
import { fileLabel } from '../views/fileLabels.js';

export interface Target {
  readonly file: string;
  /** The folder that nothing written may leave. */
  readonly root: string;
  /** The base folder of relative paths in the file. */
  readonly folder: string;
}

export interface TargetItem extends InertItem {
  readonly target: Target;
}

export function targetItems(): TargetItem[] {
  const folders = localFolders().map(({ name, uri }) => ({
    label: inert`${new Icon('folder')} ${name}`,
    description: inert`${configPath}`,
    detail: inert`For everyone who works in this folder`,
    target: { file: join(uri.fsPath, configPath), root: uri.fsPath, folder: uri.fsPath },
  }));
  const home = homedir();
  const own = {
    label: inert`${new Icon('account')} You`,
    description: inert`~/${configPath}`,
    detail: inert`For you, in every window`,
    target: { file: userFile(home), root: home, folder: localFolders()[0]?.uri.fsPath ?? home },
  };
  return [...folders, own];
}

export async function textOf(file: string): Promise<string | undefined> {
  if (!existsSync(file)) return undefined;
  return (await openToEdit(vscode.Uri.file(file))).getText();
}

/** Shows the server `id` afterwards. Rejects with what a person can do. */
export async function writeServers(
  { file, root }: Target,
  editsOf: FileChange['editsOf'],
  id: string | undefined,
): Promise<void> {
  const name = fileLabel(file);
  const { editor, isSaved } = await writeEdits({ file, root, name, editsOf });
  const { document } = editor;
  const offset = id === undefined ? undefined : offsetOfServer(document.getText(), id);
  if (offset !== undefined) {
    const at = document.positionAt(offset);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
  if (!isSaved) {
    void window.showInformationMessage(inert`${name} has other unsaved changes. Save it to start the servers.`);
  }
}

export async function writeEdits(
  change: FileChange,
): Promise<{ readonly editor: vscode.TextEditor; readonly isSaved: boolean }> {
  const { document, isSaved } = await editFile(change);
  return { editor: await vscode.window.showTextDocument(document, { preview: false }), isSaved };
}

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

/** Shows a change as a difference with a report, and asks whether to write it. Resolves to the agreed plan. */
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
