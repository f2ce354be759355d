/** Edits config files and the files of other agents, and shows the result. Loaded on demand. */
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Icon, inert } from '../../core/base/inert.js';
import { userFile } from '../../core/config/sources.js';
import { configPath, localFolders } from '../engine/configFiles.js';
import { window, type InertItem } from '../views/inertEditor.js';
import { offsetOfServer } from '../../core/config/edit/addServers.js';
import { editFile, type FileChange } from '../authoring/fileEdits.js';
import { openToEdit } from '../views/review/documents.js';
import { fileLabel } from '../views/fileLabels.js';

export interface Target {
  readonly file: string;
  /** The folder that nothing written may leave. */
  readonly root: string;
  /** The base folder of relative paths in the file. */
  readonly folder: string;
}

export interface TargetItem extends InertItem {
  readonly target: Target;
}

export function targetItems(): TargetItem[] {
  const folders = localFolders().map(({ name, uri }) => ({
    label: inert`${new Icon('folder')} ${name}`,
    description: inert`${configPath}`,
    detail: inert`For everyone who works in this folder`,
    target: { file: join(uri.fsPath, configPath), root: uri.fsPath, folder: uri.fsPath },
  }));
  const home = homedir();
  const own = {
    label: inert`${new Icon('account')} You`,
    description: inert`~/${configPath}`,
    detail: inert`For you, in every window`,
    target: { file: userFile(home), root: home, folder: localFolders()[0]?.uri.fsPath ?? home },
  };
  return [...folders, own];
}

export async function textOf(file: string): Promise<string | undefined> {
  if (!existsSync(file)) return undefined;
  return (await openToEdit(vscode.Uri.file(file))).getText();
}

/** Shows the server `id` afterwards. Rejects with what a person can do. */
export async function writeServers(
  { file, root }: Target,
  editsOf: FileChange['editsOf'],
  id: string | undefined,
): Promise<void> {
  const name = fileLabel(file);
  const { editor, isSaved } = await writeEdits({ file, root, name, editsOf });
  const { document } = editor;
  const offset = id === undefined ? undefined : offsetOfServer(document.getText(), id);
  if (offset !== undefined) {
    const at = document.positionAt(offset);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
  if (!isSaved) {
    void window.showInformationMessage(inert`${name} has other unsaved changes. Save it to start the servers.`);
  }
}

export async function writeEdits(
  change: FileChange,
): Promise<{ readonly editor: vscode.TextEditor; readonly isSaved: boolean }> {
  const { document, isSaved } = await editFile(change);
  return { editor: await vscode.window.showTextDocument(document, { preview: false }), isSaved };
}
