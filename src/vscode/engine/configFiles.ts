/**
 * The config files of the window (R1), followed with the signs of the editor. A half-typed
 * launch that the auto save writes waits (R1a).
 */
import * as vscode from 'vscode';
import { basename, dirname, relative } from 'node:path';
import { homedir } from '../../core/base/home.js';
import type { Clock } from '../../core/base/clock.js';
import type { Disposable } from '../../core/base/disposables.js';
import { isBelow, samePath } from '../../core/base/paths.js';
import { mainFolderOf } from '../../core/approval/worktree.js';
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
    const waiting = new Set<string>();
    super({
      clock,
      wanted: () => sourceFiles(folderPaths(), homedir(), mainFolderOf),
      signs: (source, nudge) => {
        const ask = (): void => {
          if (waiting.has(source.file)) nudge();
        };
        return vscode.Disposable.from(
          editorSigns(source.file, patternOf(source), nudge),
          vscode.window.onDidChangeTextEditorSelection(ask),
          vscode.window.onDidChangeActiveTextEditor(ask),
        );
      },
      typedIn: async (path, before, now) => {
        waiting.delete(path);
        const { document, selection } = vscode.window.activeTextEditor ?? {};
        if (!document || !selection || !samePath(document.uri.fsPath, path)) return undefined;
        if (!savedByEditor.has(document.uri.fsPath)) return undefined;
        const { launchTypedAt } = await import('../../core/config/edit/serverEdits.js');
        const server = launchTypedAt(before, now, document.offsetAt(selection.active));
        if (server !== undefined) waiting.add(path);
        return server;
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
  const isInFolder = origin !== 'user' && isBelow(file, folder);
  return isInFolder
    ? new vscode.RelativePattern(vscode.Uri.file(folder), relative(folder, file))
    : new vscode.RelativePattern(vscode.Uri.file(dirname(file)), basename(file));
}
