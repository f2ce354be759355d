/** Writes `enabled` of a server into its file and keeps comments (E3). It is loaded when it is first needed. */
import * as vscode from 'vscode';
import { join } from 'node:path';
import { inert } from '../../core/base/inert.js';
import { window } from '../views/inertEditor.js';
import { setEnabled } from '../../core/config/serverEdits.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { TextEdit } from '../../core/yaml/edits.js';
import { configPath } from '../engine/configFiles.js';
import { fileLabel } from '../views/fileLabels.js';
import { editFile } from './fileEdits.js';

/** Rejects with what a person can do. A file that has unsaved changes is edited and left for the person to save. */
export async function writeEnabled({ id, source }: ServerStatus, enabled: boolean): Promise<void> {
  const name = fileLabel(source);
  if (!vscode.Uri.file(source).path.endsWith(`/${configPath}`)) {
    throw new Error(`“${id}” comes from ${name}. Change it there.`);
  }
  const editsOf = (text = ''): readonly TextEdit[] => {
    const edits = setEnabled(text, id, enabled);
    if (edits) return edits;
    throw new Error(`${name} could not be changed. Correct its errors first, or write enabled: ${enabled} yourself.`);
  };
  const { document, isSaved } = await editFile({ file: source, root: join(source, '../..'), name, editsOf });
  if (isSaved) return;
  await vscode.window.showTextDocument(document);
  void window.showInformationMessage(inert`${name} has other unsaved changes. Save it to apply the change to “${id}”.`);
}
