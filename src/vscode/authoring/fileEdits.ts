/**
 * The only way to change a file through the editor, so the person can undo it. Keeps comments (E3).
 * Loaded on demand.
 */
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { decidingPattern, tickTools } from '../../core/authoring/toolLists.js';
import { inert } from '../../core/base/inert.js';
import { OneByOne } from '../../core/base/oneByOne.js';
import { setEnabled } from '../../core/config/edit/serverEdits.js';
import { refuseOutside, writeInside } from '../../core/files/realFiles.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { applyEdits, type Edits, type TextEdit } from '../../core/yaml/edits.js';
import { configPath } from '../engine/configFiles.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { tell } from '../views/inertEditor.js';
import { fileLabel } from '../views/places.js';
import { openDocument, openToEdit } from '../views/review/documents.js';
import type { TickedRow } from '../views/rows/subject.js';
import { rangeOf, workspaceEdit } from './authoring.js';

export interface FileChange {
  readonly file: string;
  /** The folder that nothing written may leave. */
  readonly root: string;
  readonly name: string;
  /**
   * Returns the edits of the present text, which is undefined without a file. Throws with a
   * sentence if it is impossible.
   */
  readonly editsOf: (text: string | undefined) => readonly TextEdit[];
}

/** `isSaved` is false if the document had other unsaved changes, which the person must save. */
type Edited = { readonly document: vscode.TextDocument; readonly isSaved: boolean };

const changes = new OneByOne();

/**
 * A change applies to the text for which it was computed. Concurrent changes of a file run one
 * after another.
 */
export function editFile(change: FileChange): Promise<Edited> {
  return changes.add(change.file, () => editNow(change));
}

async function editNow({ file, root, name, editsOf }: FileChange): Promise<Edited> {
  if (!existsSync(file)) {
    writeInside(root, file, { before: '', after: applyEdits('', editsOf(undefined)) });
    return { document: await openToEdit(file), isSaved: true };
  }
  refuseOutside(root, file);
  const document = await openToEdit(file);
  const wasDirty = document.isDirty;
  const edits = editsOf(document.getText());
  if (edits.length > 0 && !(await vscode.workspace.applyEdit(workspaceEdit(document, edits)))) {
    throw new Error(`${name} could not be changed.`);
  }
  if (wasDirty) return { document, isSaved: false };
  // The editor follows links when it saves, and another program may have made one since.
  refuseOutside(root, file);
  // `save` is also false if the auto save came first, perhaps with an earlier text.
  const isSaved = async (): Promise<boolean> => (await document.save()) || !document.isDirty;
  if (!(await isSaved()) && !(await isSaved())) throw new Error(`${name} could not be saved.`);
  return { document, isSaved: true };
}

export function writeEnabled(server: ServerStatus, enabled: boolean): Promise<void> {
  const byHand = `write enabled: ${enabled} yourself`;
  return change(server, (text) => setEnabled(text, server.id, enabled), byHand);
}

export async function writeTicks(slot: EngineSlot, rows: readonly TickedRow[]): Promise<void> {
  for (const server of slot.state.snapshot.servers) {
    const { id, listed } = server;
    const ticks = new Map(
      rows.flatMap(({ server: of, original, ticked }) =>
        of === id && original !== undefined && ticked !== undefined
          ? [[original, ticked] as const]
          : [],
      ),
    );
    const byHand = `change the whitelist or the blacklist of “${id}” yourself`;
    if (ticks.size > 0) await change(server, (text) => tickTools(text, id, listed, ticks), byHand);
  }
  await slot.engine?.host.reload();
}

/** Shows the list item that decides about a tool. @param tool the original name */
export async function goToPattern({ id, source }: ServerStatus, tool: string): Promise<void> {
  const document = await openDocument(vscode.Uri.file(source));
  const span = decidingPattern(document.getText(), id, tool);
  if (span) await vscode.window.showTextDocument(document, { selection: rangeOf(document, span) });
  else tell(inert`No pattern of “${id}” is about “${tool}”, so agents see it.`);
}

/** Rejects with what a person can do. The person must save a file with other unsaved changes. */
async function change(
  { id, source }: ServerStatus,
  editsOf: (text: string) => Edits,
  byHand: string,
): Promise<void> {
  const name = fileLabel(source);
  if (!vscode.Uri.file(source).path.endsWith(`/${configPath}`)) {
    throw new Error(`“${id}” comes from ${name}. Change it there.`);
  }
  const { document, isSaved } = await editFile({
    file: source,
    root: join(source, '../..'),
    name,
    editsOf: (text = '') => {
      const edits = editsOf(text);
      if (edits) return edits;
      throw new Error(`${name} could not be changed. Correct its errors first, or ${byHand}.`);
    },
  });
  if (isSaved) return;
  await vscode.window.showTextDocument(document);
  tell(inert`${name} has other unsaved changes. Save it to apply the change to “${id}”.`);
}
