/** *Rename Symbol* at the id of a server (E2): in its config file, the team and the agent files of the folder. */
import * as vscode from 'vscode';
import { join } from 'node:path';
import { readdir } from 'node:fs/promises';
import { renamedServer, serverAt } from '../../core/authoring/renaming.js';
import { leadsOutside, refuseOutside } from '../../core/files/realFiles.js';
import { agentFolder } from '../../core/team/agentFiles.js';
import { renamedInAgent, renamedInTeam } from '../../core/team/renaming.js';
import type { TextEdit } from '../../core/yaml/edits.js';
import { openToEdit } from '../views/review/documents.js';
import { folderOf, rangeOf } from './authoring.js';

/** Throws with a sentence without an id at the place. */
export function prepareRename(
  document: vscode.TextDocument,
  at: vscode.Position,
): { range: vscode.Range; placeholder: string } {
  const found = serverAt(document.getText(), document.offsetAt(at));
  if (!found) throw new Error('Place the cursor in the id of a server to rename it.');
  return { range: rangeOf(document, found.keySpan), placeholder: found.id };
}

export async function renameEdits(
  document: vscode.TextDocument,
  at: vscode.Position,
  to: string,
): Promise<vscode.WorkspaceEdit | undefined> {
  const found = serverAt(document.getText(), document.offsetAt(at));
  if (!found) return undefined;
  const folder = folderOf(document);
  // The editor follows links when it saves (S1a).
  refuseOutside(folder, document.uri.fsPath);
  const renamed = renamedServer(document.getText(), found.keySpan, to);
  if (typeof renamed === 'string') throw new Error(renamed);
  const edit = new vscode.WorkspaceEdit();
  const add = (one: vscode.TextDocument, edits: readonly TextEdit[]): void => {
    for (const { span, text } of edits) edit.replace(one.uri, rangeOf(one, span), text);
  };
  add(document, renamed);
  const renaming = { from: found.id, to };
  for (const { path, edits } of await othersIn(folder)) {
    if (leadsOutside(folder, path) !== undefined) continue;
    const other = await openToEdit(vscode.Uri.file(path)).catch(() => undefined);
    if (other) add(other, edits(other.getText(), renaming));
  }
  return edit;
}

/** Returns the other files of a folder that may name the server. */
async function othersIn(folder: string): Promise<{ path: string; edits: typeof renamedInTeam }[]> {
  const agents = join(folder, agentFolder);
  const names = await readdir(agents).catch(() => []);
  return [
    { path: join(folder, '.minds', 'team.yaml'), edits: renamedInTeam },
    ...names
      .filter((name) => name.endsWith('.agent.md'))
      .map((name) => ({ path: join(agents, name), edits: renamedInAgent })),
  ];
}
