/** Changes the entry of a server in its file (E3). It keeps comments, and the person can undo it. Loaded on demand. */
import * as vscode from 'vscode';
import { join } from 'node:path';
import { inert } from '../../core/base/inert.js';
import { decidingPattern, tickTools } from '../../core/authoring/toolLists.js';
import { setEnabled } from '../../core/config/edit/serverEdits.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { Edits } from '../../core/yaml/edits.js';
import { configPath } from '../engine/configFiles.js';
import { openDocument } from '../views/review/documents.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { TickedRow } from '../views/rows/subject.js';
import { fileLabel } from '../views/places.js';
import { tell } from '../views/inertEditor.js';
import { rangeOf } from './authoring.js';
import { editFile } from './fileEdits.js';

export function writeEnabled(server: ServerStatus, enabled: boolean): Promise<void> {
  const byHand = `write enabled: ${enabled} yourself`;
  return change(server, (text) => setEnabled(text, server.id, enabled), byHand);
}

export async function writeTicks(slot: EngineSlot, rows: readonly TickedRow[]): Promise<void> {
  for (const server of slot.state.snapshot.servers) {
    const { id, listed } = server;
    const ticks = new Map(
      rows.flatMap(({ server: of, original, ticked }) =>
        of === id && original !== undefined && ticked !== undefined ? [[original, ticked] as const] : [],
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
async function change({ id, source }: ServerStatus, editsOf: (text: string) => Edits, byHand: string): Promise<void> {
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
