/** The only way in which the extension changes a file through the editor, so the person can undo it. Loaded on demand. */
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
  readonly name: string;
  /** Returns the edits of the present text, which is undefined without a file. Throws with a sentence if it is impossible. */
  readonly editsOf: (text: string | undefined) => readonly TextEdit[];
}

interface Edited {
  readonly document: vscode.TextDocument;
  /** False if the document had other unsaved changes, which the person must save. */
  readonly isSaved: boolean;
}

const changes = new OneByOne();

/** A change applies to the text for which it was computed. Concurrent changes of a file run one after another. */
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
  // The editor follows links when it saves, and another program may have made one since.
  refuseOutside(root, file);
  // `save` is also false if the auto save came first, perhaps with an earlier text.
  const isSaved = async (): Promise<boolean> => (await document.save()) || !document.isDirty;
  if (!(await isSaved()) && !(await isSaved())) throw new Error(`${name} could not be saved.`);
  return { document, isSaved: true };
}
