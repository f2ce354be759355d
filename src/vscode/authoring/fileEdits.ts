/**
 * The one way in which the extension changes a file through the editor: on the document, so that it can be undone, and
 * saved unless the document has other unsaved changes. No link leads out of the folder that is named (S1a). It is loaded
 * when it is first needed.
 *
 * Invariant: a change is made to the text for which it was computed. What is asked for at once is done one by one, so that
 * each sees what the one before has saved.
 */
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { OneByOne } from '../../core/base/oneByOne.js';
import { refuseOutside, writeInside } from '../../core/files/realFiles.js';
import { applyEdits, type TextEdit } from '../../core/yaml/edits.js';
import { openToEdit } from '../views/review/documents.js';
import { workspaceEdit } from './authoring.js';

export interface FileChange {
  readonly file: string;
  /** The folder that nothing written may leave. */
  readonly root: string;
  /** The file as it is shown to a person. */
  readonly name: string;
  /**
   * Returns the change of the text that the file has in the editor by now, or of none where there is no file. Throws a
   * sentence for people where it cannot be made.
   */
  readonly editsOf: (text: string | undefined) => readonly TextEdit[];
}

interface Edited {
  readonly document: vscode.TextDocument;
  /** False where it had other unsaved changes, which are left for the person to save. */
  readonly isSaved: boolean;
}

const changes = new OneByOne();

/** Creates the file if there is none. Rejects with what a person can do. */
export function editFile(change: FileChange): Promise<Edited> {
  return changes.add(change.file, () => editNow(change));
}

async function editNow({ file, root, name, editsOf }: FileChange): Promise<Edited> {
  if (!existsSync(file)) {
    writeInside(root, file, { before: '', after: applyEdits('', editsOf(undefined)) });
    return { document: await openToEdit(vscode.Uri.file(file)), isSaved: true };
  }
  refuseOutside(root, file);
  const document = await openToEdit(vscode.Uri.file(file));
  const wasDirty = document.isDirty;
  const edits = editsOf(document.getText());
  if (edits.length > 0 && !(await vscode.workspace.applyEdit(workspaceEdit(document, edits)))) {
    throw new Error(`${name} could not be changed.`);
  }
  if (wasDirty) return { document, isSaved: false };
  // The editor follows links when it saves, so nothing may have been put in the way since.
  refuseOutside(root, file);
  // `save` is also false if the editor's auto save was there first, and that may have saved an earlier text.
  const isSaved = async (): Promise<boolean> => (await document.save()) || !document.isDirty;
  if (!(await isSaved()) && !(await isSaved())) throw new Error(`${name} could not be saved.`);
  return { document, isSaved: true };
}
