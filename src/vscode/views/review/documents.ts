/**
 * Opens files as documents of the editor. The editor reads whatever is there, without a bound, and a path in a workspace may
 * lead to a pipe or a device; so that is looked at first (S2). `test/unit/base/textFile.test.ts` refuses another way.
 *
 * Of a file that another program has written, the editor has the former text until it hears of that, and for minutes where it
 * does not watch the file: in no folder of the window, and not shown.
 */
import { withoutMark } from '../../../core/base/byteOrderMark.js';
import * as vscode from 'vscode';
import { nextEvent } from '../../../core/base/events.js';
import { largestForeignFile, readTextFile } from '../../../core/base/textFile.js';

/** How long the editor may take to hear of a file that was written, in milliseconds. */
const toldLimitMs = 1_000;

/**
 * Resolves when the document has the text of the file, or unsaved changes of a person, or when the editor does not hear of
 * that text. Rejects with a sentence for a person, and as `node:fs` does. What is in no folder of this machine is left to the
 * editor.
 */
export async function openDocument(file: vscode.Uri): Promise<vscode.TextDocument> {
  const { document, untilRead } = await open(file);
  await untilRead();
  return document;
}

/** As `openDocument`; but where the editor does not hear of the text, the file is shown, so that it is read. */
export async function openToEdit(file: vscode.Uri): Promise<vscode.TextDocument> {
  const { document, untilRead } = await open(file);
  if (await untilRead()) return document;
  await vscode.window.showTextDocument(document, { preserveFocus: true });
  await untilRead();
  return document;
}

interface Opened {
  readonly document: vscode.TextDocument;
  /** Resolves with whether the document has the text of the file, or what counts more. */
  readonly untilRead: () => Promise<boolean>;
}

async function open(file: vscode.Uri): Promise<Opened> {
  const openNow = (): Thenable<vscode.TextDocument> => vscode.workspace.openTextDocument(file);
  if (file.scheme !== 'file') return { document: await openNow(), untilRead: () => Promise.resolve(true) };
  const text = unified(await readTextFile(file.fsPath, largestForeignFile));
  const document = await openNow();
  // What is no UTF-8 is another text in the editor.
  const isOther = text.includes('\ufffd');
  const isRead = (): boolean =>
    isOther || document.isDirty || document.isClosed || unified(document.getText()) === text;
  const untilRead = async (): Promise<boolean> => {
    if (isRead()) return true;
    const isTold = (change: vscode.TextDocumentChangeEvent): boolean => change.document === document && isRead();
    const told = nextEvent(vscode.workspace.onDidChangeTextDocument, isTold, AbortSignal.timeout(toldLimitMs));
    return await told.then(() => true, isRead);
  };
  return { document, untilRead };
}

/** A document has one kind of line ends, and no byte order mark. */
function unified(text: string): string {
  return withoutMark(text).replace(/\r\n?/g, '\n');
}
