/**
 * Opens files as documents. The editor reads any path without a bound, also a pipe, so the file is
 * checked first (S2).
 */
import { withoutMark } from '../../../core/base/byteOrderMark.js';
import * as vscode from 'vscode';
import { nextEvent } from '../../../core/base/events.js';
import type { Place } from '../../../core/base/problem.js';
import { anyBytes, largestForeignFile, readTextFile } from '../../../core/base/textFile.js';
import { toLocation } from '../places.js';

/** How long the editor may take to notice a change, in milliseconds. */
const noticeLimitMs = 1_000;

/**
 * Waits until the editor notices a change. If `toEdit`, it shows a late document, so that the
 * editor reads the file.
 */
export async function openDocument(file: vscode.Uri, toEdit = false): Promise<vscode.TextDocument> {
  if (file.scheme !== 'file') return await vscode.workspace.openTextDocument(file);
  const text = unified(await readTextFile(file.fsPath, largestForeignFile, anyBytes));
  const document = await vscode.workspace.openTextDocument(file);
  // The editor decodes other encodings than UTF-8 differently.
  const isOther = text.includes('\ufffd');
  const isRead = (): boolean =>
    isOther || document.isDirty || document.isClosed || unified(document.getText()) === text;
  const untilRead = async (): Promise<void> => {
    if (isRead()) return;
    const isNoticed = (change: vscode.TextDocumentChangeEvent): boolean =>
      change.document === document && isRead();
    const limit = AbortSignal.timeout(noticeLimitMs);
    await nextEvent(vscode.workspace.onDidChangeTextDocument, isNoticed, limit).catch(
      () => undefined,
    );
  };
  await untilRead();
  if (!toEdit || isRead()) return document;
  await vscode.window.showTextDocument(document, { preserveFocus: true });
  await untilRead();
  return document;
}

export function openToEdit(file: string): Promise<vscode.TextDocument> {
  return openDocument(vscode.Uri.file(file), true);
}

export async function showPlace(place: Place): Promise<void> {
  const { uri, range } = toLocation(place);
  await vscode.window.showTextDocument(await openDocument(uri), { selection: range });
}

function unified(text: string): string {
  return withoutMark(text).replace(/\r\n?/g, '\n');
}
