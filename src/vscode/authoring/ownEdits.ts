/**
 * Finds the overrides that a person writes in the active editor of this window, which need no
 * review (O5). Another edit, also one of the disk, may be that of a program. It spoils all edits up
 * to the next save. Loaded with the engine.
 */
import * as vscode from 'vscode';
import { join } from 'node:path';
import { samePath } from '../../core/base/paths.js';
import { readTextFileSync } from '../../core/base/textFile.js';
import { unlessThrown } from '../../core/base/unlessThrown.js';
import { validServers } from '../../core/authoring/validServers.js';
import { isLocalFile, localPath } from '../../core/config/sources.js';
import { configPath } from '../engine/configFiles.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { filesOf } from '../views/serverStates.js';

const longest = 1 << 20;

/** Returns the servers of a text of the document. In a layer, they are joined (C7). */
function serversOf({ uri: { fsPath } }: vscode.TextDocument, text: string) {
  if (!isLocalFile(fsPath)) return validServers(text);
  const below = join(fsPath, '../..', configPath);
  return validServers(unlessThrown(() => readTextFileSync(below, longest)) ?? '', text);
}

function begun(document: vscode.TextDocument, text = document.getText()) {
  return {
    /** The servers of this text, and of the texts that the person saved next. */
    known: [serversOf(document, text)],
    /** Each edit since the last save is the person's. */
    isOwn: true,
    /** The present text, if the disk has it. Or it is the first edit, not marked as dirty yet. */
    read: undefined as string | undefined,
  };
}

export function followOwnEdits(slot: EngineSlot): vscode.Disposable {
  const files = new Map<string, ReturnType<typeof begun>>();
  const begin = (document: vscode.TextDocument): void => {
    const { fsPath, path } = document.uri;
    const isOurs = [configPath, localPath].some((one) => path.endsWith(`/${one}`));
    if (isOurs && !document.isDirty) files.set(fsPath, begun(document));
  };
  for (const document of vscode.workspace.textDocuments) begin(document);
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(begin),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      const file = files.get(document.uri.fsPath);
      if (!file) return;
      if (contentChanges.length > 0) {
        if (file.read !== undefined) Object.assign(file, begun(document, file.read));
        if (vscode.window.activeTextEditor?.document !== document) file.isOwn = false;
        file.read = document.getText();
      }
      if (document.isDirty) file.read = undefined;
    }),
    vscode.workspace.onDidSaveTextDocument((document) => {
      const { fsPath } = document.uri;
      const { known, isOwn = false, read } = files.get(fsPath) ?? {};
      if (!known || !isOwn || read !== undefined) return begin(document);
      known.push(serversOf(document, document.getText()));
      for (const server of slot.state.snapshot.servers) {
        const { id, source } = server;
        if (!filesOf(server).some((file) => samePath(file, fsPath))) continue;
        const own = known.flat().filter((one) => one.id === id);
        slot.engine?.offers.noteOwnOverrides({ server: id, source }, own);
      }
    }),
  );
}
