/**
 * Follows the config files of the window (R1). A half-typed launch that the auto save writes
 * does not count yet.
 */
import * as vscode from 'vscode';
import { basename, dirname } from 'node:path';
import { homedir } from '../../core/base/home.js';
import type { Clock } from '../../core/base/clock.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import { Emitter } from '../../core/base/events.js';
import { samePath } from '../../core/base/paths.js';
import {
  approvalsFile,
  fileUnreadable,
  isUserFile,
  mindsPath,
  sourceFiles,
} from '../../core/config/sources.js';
import type { SourceFile } from '../../core/config/sources.js';
import { isInside } from '../../core/base/paths.js';
import { SharedFile } from '../../core/files/sharedFile.js';
import { watchFile, type WatchedFile, type WatchedFileDeps } from '../../core/files/watchedFile.js';
import type { ConfigFiles, ConfigFilesState } from './engineSlot.js';

export const configPath = mindsPath;

/** Returns the approvals file, which all windows and commands of the user share (S1). */
export function approvalStore(clock: Clock): SharedFile {
  return new SharedFile(approvalsFile(homedir()), clock);
}

export function localFolders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
}

/** Returns a name that only windows of this user with this folder or workspace share (G2c). */
export function workspaceName(): string {
  const { workspaceFile, workspaceFolders } = vscode.workspace;
  return `${homedir()}\n${(workspaceFile ?? workspaceFolders?.[0]?.uri)?.toString() ?? ''}`;
}

/** True for the user's own file, unless the workspace brings it along (S1c). */
export function isUsersOwn(file: string): boolean {
  return isUserFile(file, folderPaths(), homedir());
}

/** True for a folder in the workspace: starts in it need an approval (S1). */
export function isInWorkspace(folder: string): boolean {
  return folderPaths().some((other) => isInside(folder, other));
}

export function folderPaths(): string[] {
  return localFolders().map(({ uri }) => uri.fsPath);
}

interface FollowedFile<Source> {
  source: Source;
  readonly file: WatchedFile;
  readonly store: DisposableStore;
  /** The last readable text; undefined without a file. */
  text: string | undefined;
}

interface FollowedFilesDeps<Source> extends Pick<WatchedFileDeps, 'clock'> {
  readonly wanted: () => readonly Source[];
  readonly patternOf: (source: Source) => vscode.RelativePattern;
  readonly isHalfTyped?: (path: string, before: string, now: string) => Promise<boolean>;
  readonly onChange: () => void;
}

/**
 * Follows the texts of files. The core polls them, and events of the editor make the core look at
 * once.
 */
export class FollowedFiles<Source extends { readonly file: string }> implements Disposable {
  private readonly store = new DisposableStore('followed files');
  /** In the order of `wanted`. */
  all: readonly FollowedFile<Source>[] = [];

  constructor(private readonly deps: FollowedFilesDeps<Source>) {
    this.store.add(vscode.workspace.onDidChangeWorkspaceFolders(() => this.follow()));
  }

  /** Call it once. */
  follow(): void {
    const before = this.all;
    this.all = this.deps.wanted().map((source) => {
      const known = before.find(({ file }) => file.path === source.file);
      return known ? Object.assign(known, { source }) : this.open(source);
    });
    for (const { file, store } of before)
      if (this.all.every((one) => one.file !== file)) this.store.release(store);
    this.deps.onChange();
  }

  dispose(): void {
    this.store.dispose();
  }

  private open(source: Source): FollowedFile<Source> {
    const { clock, patternOf, isHalfTyped = () => Promise.resolve(false), onChange } = this.deps;
    const { file: path } = source;
    const store = this.store.add(new DisposableStore(`followed file ${path}`));
    const halfTyped = (before: string, now: string): Promise<boolean> =>
      isHalfTyped(path, before, now);
    const file = store.add(watchFile(path, { clock, isHalfTyped: halfTyped }));
    const watcher = store.add(vscode.workspace.createFileSystemWatcher(patternOf(source)));
    for (const event of [watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete])
      store.add(event(file.nudge));
    store.add(
      vscode.workspace.onDidSaveTextDocument(({ uri }) => {
        if (samePath(uri.fsPath, path)) file.nudge();
      }),
    );
    const followed: FollowedFile<Source> = { source, file, store, text: undefined };
    store.add(
      file.onDidChange((content) => {
        if (content.kind !== 'unreadable')
          followed.text = content.kind === 'text' ? content.text : undefined;
        onChange();
      }),
    );
    return followed;
  }
}

export class WindowConfigFiles implements ConfigFiles {
  private readonly store = new DisposableStore('config files');
  private readonly changes = this.store.add(new Emitter<ConfigFilesState>());
  private readonly savedByEditor = new Set<string>();
  private readonly files: FollowedFiles<SourceFile>;
  state: ConfigFilesState | undefined;

  readonly onDidChange = this.changes.event;

  constructor(clock: Clock) {
    const wanted = (): SourceFile[] => sourceFiles(folderPaths(), homedir());
    const onChange = (): void => this.tell();
    this.files = this.store.add(
      new FollowedFiles({ clock, wanted, patternOf, isHalfTyped: this.isHalfTyped, onChange }),
    );
    this.store.add(
      vscode.workspace.onWillSaveTextDocument(({ document: { uri }, reason }) => {
        if (reason === vscode.TextDocumentSaveReason.Manual) this.savedByEditor.delete(uri.fsPath);
        else this.savedByEditor.add(uri.fsPath);
      }),
    );
    this.files.follow();
  }

  async readNow(): Promise<void> {
    await Promise.all(this.files.all.map(({ file }) => file.readNow()));
  }

  dispose(): void {
    this.store.dispose();
  }

  private readonly isHalfTyped = async (
    path: string,
    before: string,
    now: string,
  ): Promise<boolean> => {
    const { document, selection } = vscode.window.activeTextEditor ?? {};
    if (!document || !selection || !samePath(document.uri.fsPath, path)) return false;
    if (!this.savedByEditor.has(document.uri.fsPath)) return false;
    const { changesLaunchAt } = await import('../../core/config/edit/serverEdits.js');
    return changesLaunchAt(before, now, document.offsetAt(selection.active));
  };

  private tell(): void {
    const { all } = this.files;
    if (all.some(({ file }) => !file.content)) return;
    const problems = all.flatMap(({ file: { path, content } }) =>
      content?.kind === 'unreadable' ? [fileUnreadable(path, content.reason, true)] : [],
    );
    const sources = all.map(({ source, text }) => ({ ...source, text }));
    this.state = { folders: folderPaths().length, sources, problems };
    this.changes.fire(this.state);
  }
}

function patternOf({ file, folder, origin }: SourceFile): vscode.RelativePattern {
  // Outside the workspace, the editor watches the whole tree below the base if a pattern has
  // folders in it.
  return origin === 'user'
    ? new vscode.RelativePattern(vscode.Uri.file(dirname(file)), basename(file))
    : new vscode.RelativePattern(
        vscode.Uri.file(folder),
        origin === 'mcprc' ? basename(file) : mindsPath,
      );
}
