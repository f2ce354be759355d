/** Follows the config files of the window (C5, R1). A half-typed launch that the auto save writes does not count yet. */
import * as vscode from 'vscode';
import { homedir } from 'node:os';
import { basename, dirname } from 'node:path';
import type { Clock } from '../../core/base/clock.js';
import { DisposableStore } from '../../core/base/disposables.js';
import { Emitter } from '../../core/base/events.js';
import { samePath } from '../../core/base/paths.js';
import type { Problem } from '../../core/base/problem.js';
import type { SourceText } from '../../core/config/model.js';
import { fileUnreadable } from '../../core/config/problems.js';
import { approvalsFile, isUserFile, mindsPath, sourceFiles, type SourceFile } from '../../core/config/sources.js';
import { isInsideAny } from '../../core/files/realFiles.js';
import { SharedFile } from '../../core/files/sharedFile.js';
import { watchFile, type WatchedFile, type WatchedFileDeps } from '../../core/files/watchedFile.js';
import type { ConfigFiles, ConfigFilesState } from './engineSlot.js';

export const configPath = mindsPath;

interface OpenFile {
  readonly file: WatchedFile;
  readonly store: DisposableStore;
  text: string | undefined;
}

/** Returns the approvals file, which all windows and commands of the user share (S1). */
export function approvalStore(clock: Clock): SharedFile {
  return new SharedFile(approvalsFile(homedir()), clock);
}

export function localFolders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
}

/** Returns a name that only windows of this user with this folder or workspace share (G2). */
export function workspaceName(): string {
  const { workspaceFile, workspaceFolders } = vscode.workspace;
  return `${homedir()}\n${(workspaceFile ?? workspaceFolders?.[0]?.uri)?.toString() ?? ''}`;
}

/** True for the user's own file, unless the workspace brings it along (S1). */
export function isUsersOwn(file: string): boolean {
  return isUserFile(file, folderPaths(), homedir());
}

/** True for a folder in the workspace: starts in it need an approval (S1). */
export function isInWorkspace(folder: string): boolean {
  return isInsideAny(folder, folderPaths());
}

function folderPaths(): string[] {
  return localFolders().map(({ uri }) => uri.fsPath);
}

/** Follows the text of one file. The core polls it, and events of the editor make the core look at once. */
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

export class WindowConfigFiles implements ConfigFiles {
  private readonly store = new DisposableStore('config files');
  private readonly changes = this.store.add(new Emitter<ConfigFilesState>());
  /** The files with a last save by the editor. */
  private readonly savedByEditor = new Set<string>();
  private readonly files = new Map<string, OpenFile>();
  private wanted: readonly SourceFile[] = [];
  state: ConfigFilesState | undefined;

  readonly onDidChange = this.changes.event;

  constructor(private readonly clock: Clock) {
    this.store.add(vscode.workspace.onDidChangeWorkspaceFolders(() => this.follow()));
    this.store.add(
      vscode.workspace.onWillSaveTextDocument(({ document: { uri }, reason }) => {
        if (reason === vscode.TextDocumentSaveReason.Manual) this.savedByEditor.delete(uri.fsPath);
        else this.savedByEditor.add(uri.fsPath);
      }),
    );
    this.follow();
  }

  async readNow(): Promise<void> {
    await Promise.all([...this.files.values()].map(({ file }) => file.readNow()));
  }

  dispose(): void {
    this.store.dispose();
  }

  private follow(): void {
    this.wanted = sourceFiles(folderPaths(), homedir());
    const paths = new Set(this.wanted.map(({ file }) => file));
    for (const [path, { store }] of this.files) {
      if (paths.has(path)) continue;
      this.files.delete(path);
      this.store.release(store);
    }
    for (const source of this.wanted) {
      if (!this.files.has(source.file)) this.files.set(source.file, this.open(source));
    }
    this.tell();
  }

  private open({ file: path, folder, origin }: SourceFile): OpenFile {
    const store = this.store.add(new DisposableStore(`config file ${path}`));
    // Outside the workspace, the editor watches the whole tree below the base if a pattern has folders in it.
    const pattern =
      origin === 'user'
        ? new vscode.RelativePattern(vscode.Uri.file(dirname(path)), basename(path))
        : new vscode.RelativePattern(vscode.Uri.file(folder), origin === 'mcprc' ? basename(path) : mindsPath);
    const isHalfTyped = (before: string, now: string): Promise<boolean> => this.isHalfTyped(path, before, now);
    const file = followFile(path, pattern, { clock: this.clock, store, isHalfTyped });
    const opened: OpenFile = { file, store, text: undefined };
    store.add(
      file.onDidChange((content) => {
        if (content.kind !== 'unreadable') opened.text = content.kind === 'text' ? content.text : undefined;
        this.tell();
      }),
    );
    return opened;
  }

  private async isHalfTyped(path: string, before: string, now: string): Promise<boolean> {
    const { document, selection } = vscode.window.activeTextEditor ?? {};
    if (!document || !selection || !samePath(document.uri.fsPath, path)) return false;
    if (!this.savedByEditor.has(document.uri.fsPath)) return false;
    const { changesLaunchAt } = await import('../../core/config/edit/serverEdits.js');
    return changesLaunchAt(before, now, document.offsetAt(selection.active));
  }

  private tell(): void {
    const sources: SourceText[] = [];
    const problems: Problem[] = [];
    for (const source of this.wanted) {
      const opened = this.files.get(source.file);
      if (!opened?.file.content) return;
      sources.push({ ...source, text: opened.text });
      const { content } = opened.file;
      if (content.kind === 'unreadable') problems.push(fileUnreadable(source.file, content.reason, true));
    }
    this.state = { folders: folderPaths().length, sources, problems };
    this.changes.fire(this.state);
  }
}
