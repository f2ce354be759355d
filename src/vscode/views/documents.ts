/**
 * Opens files as documents of the editor. The editor reads whatever is there, without a bound, and a path in a workspace may
 * lead to a pipe or a device; so that is looked at first (S2). `test/unit/base/textFile.test.ts` refuses another way.
 */
import * as vscode from 'vscode';
import { largestForeignFile, refuseUnreadable } from '../../core/base/textFile.js';

/** Rejects with a sentence for a person, and as `node:fs` does. What is in no folder of this machine is left to the editor. */
export async function openDocument(file: vscode.Uri): Promise<vscode.TextDocument> {
  if (file.scheme === 'file') refuseUnreadable(file.fsPath, largestForeignFile);
  return await vscode.workspace.openTextDocument(file);
}
