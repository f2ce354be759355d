/** How config files are written for a person, the same in every view. */
import * as vscode from 'vscode';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { isUsersOwn } from '../engine/configFiles.js';

/** Relative to the workspace folder, with its name where there are several; `~/…` for the user's own. */
export function fileLabel(file: string): string {
  if (isUsersOwn(file)) return `~/${relative(homedir(), file).replaceAll('\\', '/')}`;
  return vscode.workspace.asRelativePath(file);
}

/** The workspace folder it belongs to. */
export function folderLabel(file: string): string {
  return vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file))?.name ?? fileLabel(file);
}

/** Of any file: relative to the workspace folder, else `~/…` where it is below the home folder. */
export function pathLabel(file: string): string {
  const home = homedir();
  const label = vscode.workspace.asRelativePath(file);
  return label.startsWith(join(home, '/')) ? `~/${label.slice(home.length + 1).replaceAll('\\', '/')}` : label;
}
