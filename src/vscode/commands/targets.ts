/**
 * Lists the config files that a new server can go to: those of the workspace folders and the user's own. This module is
 * loaded when it is first needed.
 */
import type * as vscode from 'vscode';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { userFile } from '../../core/config/sources.js';
import { configPath, localFolders } from '../engine/configFiles.js';

export interface Target {
  readonly file: string;
  /** The folder at which relative paths of the file begin. */
  readonly folder: string;
}

export interface TargetItem extends vscode.QuickPickItem {
  readonly target: Target;
}

/** Returns the folders first. */
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
