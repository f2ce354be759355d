/** Writes `enabled` of a server into its file and keeps comments (E3). It is loaded when it is first needed. */
import * as vscode from 'vscode';
import { inert } from '../../core/base/inert.js';
import { window } from '../views/inertEditor.js';
import { setEnabled } from '../../core/config/serverEdits.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { configPath } from '../engine/configFiles.js';
import { fileLabel } from '../views/fileLabels.js';
import { workspaceEdit } from './authoring.js';

/** Rejects with what a person can do. A file that has unsaved changes is edited and left for the person to save. */
export async function writeEnabled({ id, source }: ServerStatus, enabled: boolean): Promise<void> {
  const name = fileLabel(source);
  if (!vscode.Uri.file(source).path.endsWith(`/${configPath}`)) {
    throw new Error(`"${id}" comes from ${name}. Change it there.`);
  }
  const document = await vscode.workspace.openTextDocument(source);
  const edits = setEnabled(document.getText(), id, enabled);
  if (!edits)
    throw new Error(`${name} could not be changed. Correct its errors first, or write \`enabled: ${enabled}\`.`);
  const wasDirty = document.isDirty;
  if (edits.length > 0 && !(await vscode.workspace.applyEdit(workspaceEdit(document, edits)))) {
    throw new Error(`${name} could not be changed.`);
  }
  if (!wasDirty) {
    if (!(await document.save())) throw new Error(`${name} could not be saved.`);
    return;
  }
  await vscode.window.showTextDocument(document);
  void window.showInformationMessage(inert`${name} has other unsaved changes. Save it to apply the change to "${id}".`);
}
