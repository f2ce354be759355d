/**
 * The config files of the window: `.minds/mcp.yaml` of each workspace folder on this machine's disk, in folder order
 * (spec C1, R1). A file that cannot be read stays what it was last, and is a problem.
 */
import * as vscode from 'vscode';
import { join } from 'node:path';
import type { Clock } from '../core/base/clock.js';
import { DisposableStore } from '../core/base/disposables.js';
import { Emitter } from '../core/base/events.js';
import type { Problem } from '../core/base/problem.js';
import { startOfFile, type SourceText } from '../core/config/model.js';
import { watchFile, type WatchedFile } from '../core/files/watchedFile.js';
import type { ConfigFiles, ConfigFilesState } from './engineSlot.js';

export const configPath = '.minds/mcp.yaml';

interface FolderFile {
  readonly folder: string;
  readonly file: WatchedFile;
  readonly store: DisposableStore;
  /** When it was last readable. */
  text: string | undefined;
}

export function openConfigFiles(clock: Clock): ConfigFiles {
  return new WorkspaceConfigFiles(clock);
}

/** Folders that have a place on the disk of the extension host. */
export function localFolders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
}

class WorkspaceConfigFiles implements ConfigFiles {
  private readonly store = new DisposableStore('config files');
  private readonly changes = this.store.add(new Emitter<ConfigFilesState>());
  private readonly files = new Map<string, FolderFile>();
  state: ConfigFilesState | undefined;

  readonly onDidChange = this.changes.event;

  constructor(private readonly clock: Clock) {
    this.store.add(vscode.workspace.onDidChangeWorkspaceFolders(() => this.follow()));
    this.store.add(
      vscode.workspace.onDidSaveTextDocument(({ uri }) => {
        for (const { file } of this.files.values()) if (file.path === uri.fsPath) file.nudge();
      }),
    );
    this.follow();
  }

  dispose(): void {
    this.store.dispose();
  }

  private follow(): void {
    const folders = localFolders();
    const wanted = new Set(folders.map(({ uri }) => uri.toString()));
    for (const [key, { store }] of this.files) {
      if (wanted.has(key)) continue;
      this.files.delete(key);
      this.store.release(store);
    }
    for (const folder of folders) {
      const key = folder.uri.toString();
      if (!this.files.has(key)) this.files.set(key, this.open(folder));
    }
    this.tell();
  }

  private open(folder: vscode.WorkspaceFolder): FolderFile {
    const store = this.store.add(new DisposableStore(`config file of ${folder.name}`));
    const file = store.add(watchFile(join(folder.uri.fsPath, configPath), { clock: this.clock }));
    const watcher = store.add(vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, configPath)));
    for (const event of [watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete]) store.add(event(file.nudge));
    const opened: FolderFile = { folder: folder.uri.fsPath, file, store, text: undefined };
    store.add(
      file.onDidChange((content) => {
        if (content.kind !== 'unreadable') opened.text = content.kind === 'text' ? content.text : undefined;
        this.tell();
      }),
    );
    return opened;
  }

  private tell(): void {
    const sources: SourceText[] = [];
    const problems: Problem[] = [];
    for (const { uri } of localFolders()) {
      const opened = this.files.get(uri.toString());
      if (!opened?.file.content) return;
      const { file, folder, text } = opened;
      sources.push({ file: file.path, folder, text });
      if (opened.file.content.kind === 'unreadable') problems.push(unreadable(file.path, opened.file.content.reason));
    }
    this.state = { folders: sources.length, sources, problems };
    this.changes.fire(this.state);
  }
}

function unreadable(file: string, reason: string): Problem {
  return {
    code: 'file-unreadable',
    severity: 'error',
    message: `The config file cannot be read: ${reason}. What it said before still holds.`,
    fix: 'Make it a file that you may read.',
    place: { file, range: startOfFile },
  };
}
