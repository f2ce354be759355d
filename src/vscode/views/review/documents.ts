/** Opens files as documents. The editor reads any path without a bound, also a pipe, so the file is checked first (S2). */
import { withoutMark } from '../../../core/base/byteOrderMark.js';
import * as vscode from 'vscode';
import { nextEvent } from '../../../core/base/events.js';
import type { Place } from '../../../core/base/problem.js';
import { anyBytes, largestForeignFile, readTextFile } from '../../../core/base/textFile.js';
import { toLocation } from '../places.js';

/** How long the editor may take to notice a change, in milliseconds. */
const noticeLimitMs = 1_000;

/** Resolves when the document has the text of the file or unsaved changes. The editor may notice a change late. */
export async function openDocument(file: vscode.Uri): Promise<vscode.TextDocument> {
  const { document, untilRead } = await open(file);
  await untilRead();
  return document;
}

export async function showPlace(place: Place): Promise<void> {
  const { uri, range } = toLocation(place);
  await vscode.window.showTextDocument(await openDocument(uri), { selection: range });
}

/** Like `openDocument`, but after the time limit it shows the file, so that the editor reads it. */
export async function openToEdit(file: vscode.Uri): Promise<vscode.TextDocument> {
  const { document, untilRead } = await open(file);
  if (await untilRead()) return document;
  await vscode.window.showTextDocument(document, { preserveFocus: true });
  await untilRead();
  return document;
}

interface Opened {
  readonly document: vscode.TextDocument;
  /** Resolves to true if the document has the text of the file, or unsaved changes. */
  readonly untilRead: () => Promise<boolean>;
}

async function open(file: vscode.Uri): Promise<Opened> {
  const openNow = (): Thenable<vscode.TextDocument> => vscode.workspace.openTextDocument(file);
  if (file.scheme !== 'file') return { document: await openNow(), untilRead: () => Promise.resolve(true) };
  const text = unified(await readTextFile(file.fsPath, largestForeignFile, anyBytes));
  const document = await openNow();
  // The editor decodes other encodings than UTF-8 differently.
  const isOther = text.includes('\ufffd');
  const isRead = (): boolean =>
    isOther || document.isDirty || document.isClosed || unified(document.getText()) === text;
  const untilRead = async (): Promise<boolean> => {
    if (isRead()) return true;
    const isNoticed = (change: vscode.TextDocumentChangeEvent): boolean => change.document === document && isRead();
    const noticed = nextEvent(vscode.workspace.onDidChangeTextDocument, isNoticed, AbortSignal.timeout(noticeLimitMs));
    return await noticed.then(() => true, isRead);
  };
  return { document, untilRead };
}

/** Returns a text as a document has it: with one kind of line ends and without a byte order mark. */
function unified(text: string): string {
  return withoutMark(text).replace(/\r\n?/g, '\n');
}
