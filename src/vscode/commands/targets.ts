/** Which config file a new server goes to: of a workspace folder, or the user's own. Loaded when it is asked for. */
import type * as vscode from 'vscode';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { userFile } from '../../core/config/sources.js';
import { configPath, localFolders } from '../engine/configFiles.js';

export interface Target {
  readonly file: string;
  /** Where relative paths of it begin. */
  readonly folder: string;
}

export interface TargetItem extends vscode.QuickPickItem {
  readonly target: Target;
}

/** The folders first. */
export function targetItems(): TargetItem[] {
  const folders = localFolders().map(({ name, uri }) => ({
    label: `$(folder) ${name}`,
    description: configPath,
    detail: 'For everyone who works in this folder',
    target: { file: join(uri.fsPath, configPath), folder: uri.fsPath },
  }));
  const home = homedir();
  const own = {
    label: '$(account) You',
    description: `~/${configPath}`,
    detail: 'For you, in every window',
    target: { file: userFile(home), folder: localFolders()[0]?.uri.fsPath ?? home },
  };
  return [...folders, own];
}
