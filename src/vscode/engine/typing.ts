/**
 * Knows where a person types, so that a launch that the editor saves while it is half typed does not count yet (R1). A save by
 * hand, and a caret elsewhere, make it count.
 */
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import { samePath } from '../../core/base/paths.js';

export class Typing implements Disposable {
  private readonly store = new DisposableStore('typing');
  /** The paths of the documents that the editor, and no person, saved last. */
  private readonly savedByEditor = new Set<string>();

  constructor() {
    this.store.add(
      vscode.workspace.onWillSaveTextDocument(({ document, reason }) => {
        const { fsPath } = document.uri;
        if (reason === vscode.TextDocumentSaveReason.Manual) this.savedByEditor.delete(fsPath);
        else this.savedByEditor.add(fsPath);
      }),
    );
  }

  readonly isHalfTyped = async (path: string, before: string, now: string): Promise<boolean> => {
    const { document, selection } = vscode.window.activeTextEditor ?? {};
    if (!document || !selection || !samePath(document.uri.fsPath, path)) return false;
    if (!this.savedByEditor.has(document.uri.fsPath)) return false;
    const { changesLaunchAt } = await import('../../core/config/edit/serverEdits.js');
    return changesLaunchAt(before, now, document.offsetAt(selection.active));
  };

  dispose(): void {
    this.store.dispose();
  }
}
