import * as vscode from 'vscode';
import { isAbsolute, relative } from 'node:path';
import { homedir } from '../../core/base/home.js';
import { isBelow } from '../../core/base/paths.js';
import type { Place, Range } from '../../core/base/problem.js';

export function folderLabel(file: string): string {
  return vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file))?.name ?? fileLabel(file);
}

/**
 * Returns a file relative to its workspace folder, with the folder's name if there are several, or
 * as `~/…` below the home folder.
 */
export function fileLabel(file: string): string {
  const home = homedir();
  const label = vscode.workspace.asRelativePath(file);
  return isAbsolute(label) && isBelow(label, home)
    ? `~/${relative(home, label).replaceAll('\\', '/')}`
    : label;
}

export function toRange({ start, end }: Range): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

export function toLocation({ file, range }: Place): vscode.Location {
  return new vscode.Location(vscode.Uri.file(file), toRange(range));
}
