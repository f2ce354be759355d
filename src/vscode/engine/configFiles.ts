/**
 * The config files of the window (R1), followed with the signs of the editor. A half-typed
 * launch that the auto save writes does not count yet.
 */
import * as vscode from 'vscode';
import { basename, dirname } from 'node:path';
import { homedir } from '../../core/base/home.js';
import type { Clock } from '../../core/base/clock.js';
import type { Disposable } from '../../core/base/disposables.js';
import { samePath } from '../../core/base/paths.js';
import { mindsPath, sourceFiles } from '../../core/config/sources.js';
import { ConfigFiles, type FollowedSource } from '../../core/engine/configFiles.js';

export const configPath = mindsPath;

export function localFolders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
}

export function folderPaths(): string[] {
  return localFolders().map(({ uri }) => uri.fsPath);
}

/** Calls `nudge` when the editor saves a file or sees another change of it. */
export function editorSigns(
  file: string,
  pattern: vscode.RelativePattern,
  nudge: () => void,
): Disposable {
  const watcher = vscode.workspace.createFileSystemWatcher(pattern);
  return vscode.Disposable.from(
    watcher,
    watcher.onDidCreate(nudge),
    watcher.onDidChange(nudge),
    watcher.onDidDelete(nudge),
    vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      if (samePath(uri.fsPath, file)) nudge();
    }),
  );
}

export class WindowConfigFiles extends ConfigFiles {
  private readonly listening: vscode.Disposable;

  constructor(clock: Clock) {
    const savedByEditor = new Set<string>();
    super({
      clock,
      wanted: () => sourceFiles(folderPaths(), homedir()),
      signs: (source, nudge) => editorSigns(source.file, patternOf(source), nudge),
      isHalfTyped: async (path, before, now) => {
        const { document, selection } = vscode.window.activeTextEditor ?? {};
        if (!document || !selection || !samePath(document.uri.fsPath, path)) return false;
        if (!savedByEditor.has(document.uri.fsPath)) return false;
        const { changesLaunchAt } = await import('../../core/config/edit/serverEdits.js');
        return changesLaunchAt(before, now, document.offsetAt(selection.active));
      },
    });
    this.listening = vscode.Disposable.from(
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.follow()),
      vscode.workspace.onWillSaveTextDocument(({ document: { uri }, reason }) => {
        if (reason === vscode.TextDocumentSaveReason.Manual) savedByEditor.delete(uri.fsPath);
        else savedByEditor.add(uri.fsPath);
      }),
    );
    this.follow();
  }

  override dispose(): void {
    this.listening.dispose();
    super.dispose();
  }
}

function patternOf({ file, folder, origin }: FollowedSource): vscode.RelativePattern {
  // Outside the workspace, the editor watches the whole tree below the base if a pattern has
  // folders in it.
  return origin === 'user'
    ? new vscode.RelativePattern(vscode.Uri.file(dirname(file)), basename(file))
    : new vscode.RelativePattern(
        vscode.Uri.file(folder),
        origin === 'mcprc' ? basename(file) : mindsPath,
      );
}
