/** Follows the text of one file. The core polls it, and events of the editor make the core look at once. */
import * as vscode from 'vscode';
import type { DisposableStore } from '../../core/base/disposables.js';
import { samePath } from '../../core/base/paths.js';
import { watchFile, type WatchedFile, type WatchedFileDeps } from '../../core/files/watchedFile.js';

export function followFile(
  path: string,
  pattern: vscode.RelativePattern,
  { store, ...deps }: Pick<WatchedFileDeps, 'clock' | 'isHalfTyped'> & { readonly store: DisposableStore },
): WatchedFile {
  const file = store.add(watchFile(path, deps));
  const watcher = store.add(vscode.workspace.createFileSystemWatcher(pattern));
  for (const event of [watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete]) store.add(event(file.nudge));
  store.add(
    vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      if (samePath(uri.fsPath, path)) file.nudge();
    }),
  );
  return file;
}
