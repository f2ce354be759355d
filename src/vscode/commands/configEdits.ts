/**
 * Edits config files and the files of other agents. Edits are made on the document, so that they can be undone, and are saved
 * if the document had no other unsaved changes. It is loaded when it is first needed.
 */
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { inert } from '../../core/base/inert.js';
import { window } from '../views/inertEditor.js';
import { offsetOfServer } from '../../core/config/addServers.js';
import type { TextEdit } from '../../core/yaml/edits.js';
import { workspaceEdit } from '../authoring/authoring.js';
import { fileLabel } from '../views/fileLabels.js';

/** Returns the text of the file as it is in the editor, or undefined if there is no file. */
export async function textOf(file: string): Promise<string | undefined> {
  if (!existsSync(file)) return undefined;
  return (await vscode.workspace.openTextDocument(file)).getText();
}

/** Applies the edits, creates the file if necessary, and shows the server `id`. Rejects with what a person can do. */
export async function writeServers(file: string, edits: readonly TextEdit[], id: string | undefined): Promise<void> {
  const name = fileLabel(file);
  const { editor, isSaved } = await writeEdits(file, name, edits);
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

/** Shows the file with the edits and saves it if it had no other unsaved changes. @param name The file as it is shown to a person. */
export async function writeEdits(
  file: string,
  name: string,
  edits: readonly TextEdit[],
): Promise<{ readonly editor: vscode.TextEditor; readonly isSaved: boolean }> {
  if (!existsSync(file)) {
    const create = new vscode.WorkspaceEdit();
    create.createFile(vscode.Uri.file(file), { ignoreIfExists: true });
    if (!(await vscode.workspace.applyEdit(create))) throw new Error(`${name} could not be created.`);
  }
  const document = await vscode.workspace.openTextDocument(file);
  const wasDirty = document.isDirty;
  if (edits.length > 0 && !(await vscode.workspace.applyEdit(workspaceEdit(document, edits)))) {
    throw new Error(`${name} could not be changed.`);
  }
  const editor = await vscode.window.showTextDocument(document);
  return { editor, isSaved: !wasDirty && (await document.save()) };
}
