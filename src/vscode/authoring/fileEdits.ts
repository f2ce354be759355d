/**
 * The only way to change a file through the editor, so the person can undo it. Keeps comments (E3).
 * Loaded on demand.
 */
import { english, plural } from '../../core/base/language.js';
import * as vscode from 'vscode';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { tickedOf, withTicked } from '../../core/authoring/rememberedTicks.js';
import {
  changedFileOf,
  decidingPattern,
  hasListsAbove,
  tickTools,
} from '../../core/authoring/toolLists.js';
import { systemClock } from '../../core/base/clock.js';
import type { Disposable } from '../../core/base/disposables.js';
import { inert } from '../../core/base/inert.js';
import { OneByOne } from '../../core/base/oneByOne.js';
import { editsForMe } from '../../core/config/edit/layerEdits.js';
import { addOverride, setEnabled } from '../../core/config/edit/serverEdits.js';
import { keepOutOfGit, localFileOf } from '../../core/files/localFile.js';
import { refuseOutside, writeInside } from '../../core/files/realFiles.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { applyEdits, type Edits, type TextEdit } from '../../core/yaml/edits.js';
import type { Shell } from '../engine/shell.js';
import { tell, window } from '../views/inertEditor.js';
import { fileLabel } from '../views/places.js';
import { openDocument, openToEdit } from '../views/review/documents.js';
import type { TickedRow } from '../views/rows/subject.js';
import { areChangesForMe } from '../views/trees.js';
import { rangeOf, textInOurForm, workspaceEdit } from './authoring.js';

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
    keepOutOfGit(file);
    writeInside(root, file, { before: '', after: applyEdits('', editsOf(undefined)) });
    return { document: await openToEdit(file), isSaved: true };
  }
  refuseOutside(root, file);
  const document = await openToEdit(file);
  const wasDirty = document.isDirty;
  const edits = editsOf(document.getText());
  if (edits.length > 0 && !(await vscode.workspace.applyEdit(workspaceEdit(document, edits)))) {
    throw new Error(english`${name} could not be changed.`);
  }
  if (wasDirty) return { document, isSaved: false };
  // The editor follows links when it saves, and another program may have made one since.
  refuseOutside(root, file);
  // `save` is also false if the auto save came first, perhaps with an earlier text.
  const isSaved = async (): Promise<boolean> => (await document.save()) || !document.isDirty;
  if (!(await isSaved()) && !(await isSaved()))
    throw new Error(english`${name} could not be saved.`);
  return { document, isSaved: true };
}

export async function writeEnabled(
  server: ServerStatus,
  enabled: boolean,
  isForMe: boolean,
): Promise<void> {
  const target = await targetOf(server, isForMe);
  const byHand = english`write enabled: ${String(enabled)} yourself`;
  await change(server, target, (text) => setEnabled(text, server.id, enabled), byHand);
}

interface ChangedFile {
  readonly file: string;
  /** The file below, if `file` is a layer. */
  readonly below?: vscode.TextDocument;
}

async function targetOf(server: ServerStatus, isForMe = areChangesForMe()): Promise<ChangedFile> {
  const { file, below } = changedFileOf(server, isForMe, localFileOf);
  return below === undefined ? { file } : { file, below: await openToEdit(below) };
}

const tickedKey = 'ticked';
let shownUndo: Disposable | undefined;

export async function writeTicks(
  { slot, context: { workspaceState: memory } }: Shell,
  rows: readonly TickedRow[],
): Promise<void> {
  shownUndo?.dispose();
  // *Undo* writes to the file of the ticks, also if the person has used the switch since.
  const isForMe = rows[0]?.isForMe ?? areChangesForMe();
  for (const server of slot.state.snapshot.servers) {
    const { id, listed } = server;
    const ticks = new Map(
      rows.flatMap(({ server: of, original, ticked }) =>
        of === id && original !== undefined && ticked !== undefined
          ? [[original, ticked] as const]
          : [],
      ),
    );
    const byHand = english`change the whitelist or the blacklist of “${id}” yourself`;
    if (ticks.size === 0) continue;
    const target = await targetOf(server, isForMe);
    const key = `${target.file}#${id}`;
    // Another tick may come first, so the last ticks are read with the text.
    const made = (text: string) =>
      tickTools(text, id, listed, ticks, tickedOf(memory.get(tickedKey), key));
    const text = target.below ? '' : (await openToEdit(target.file)).getText();
    const sharing = made(text)?.others ?? [];
    const answer = sharing.length > 0 ? await askAboutSharing(id, sharing) : 'Change All';
    if (answer === undefined) continue;
    const editsOf = (text: string): Edits => {
      const plan = made(text);
      if (!plan) return undefined;
      void memory.update(tickedKey, withTicked(memory.get(tickedKey), key, plan.after));
      if (plan.count > 0 && plan.gone.length > 0) showUndo(plan, rows, isForMe);
      return answer === ownLists ? plan.own : plan.edits;
    };
    await change(server, target, editsOf, byHand);
    if (hasListsAbove(server, target.file))
      tell(inert`Your local file has lists for “${id}”, so for you they count instead.`);
  }
  await slot.engine?.host.reload();
}

const ownLists = 'Give This One Its Own List';

function askAboutSharing(id: string, others: readonly string[]) {
  const question = inert`“${id}” shares this list with “${others.join('”, “')}” in the config file.`;
  const all = others.length > 1 ? 'Change All' : 'Change Both';
  return window.showWarningMessage(question, all, ownLists);
}

/** Says for some seconds that names replaced patterns. A click ticks the tools again. */
function showUndo(
  { gone, count }: { readonly gone: readonly string[]; readonly count: number },
  rows: readonly TickedRow[],
  isForMe: boolean,
): void {
  const { Left } = vscode.StatusBarAlignment;
  const item = window.createStatusBarItem('mcpToolsets.undoTicks', Left, -1000);
  item.name = inert`MCP Toolsets: Undo`;
  item.text = inert`\`${gone.join('`, `')}\` became ${plural(count, '1 name', '{0} names')} · Undo`;
  const unticked = rows.filter((row) => row.ticked === false);
  const again = unticked.map((row) => ({ node: { ...row, isForMe } }));
  item.command = {
    command: 'mcpToolsets.publishTool',
    title: inert`Undo`,
    arguments: [again[0], again],
  };
  item.show();
  shownUndo = item;
  systemClock.after(10_000, () => item.dispose());
}

/** Shows the file first, so the edit counts as the person's (O5). */
export async function writeFixed(
  server: ServerStatus,
  tool: string,
  argument: string,
  value: unknown,
): Promise<void> {
  const target = await targetOf(server);
  if (existsSync(target.file)) await vscode.window.showTextDocument(await openToEdit(target.file));
  const path = [tool, 'arguments', argument, 'fixed'];
  const written = JSON.stringify(value);
  const byHand = english`write the override of “${tool}” yourself`;
  await change(server, target, (text) => addOverride(text, server.id, path, written), byHand);
}

/** Shows the list item that decides about a tool. @param tool the original name */
export async function goToPattern(server: ServerStatus, tool: string): Promise<void> {
  const { id, place, localPlace = place } = server;
  for (const { file } of [localPlace, place]) {
    const document = await openDocument(vscode.Uri.file(file));
    const span = decidingPattern(document.getText(), id, tool);
    if (!span) continue;
    await vscode.window.showTextDocument(document, { selection: rangeOf(document, span) });
    return;
  }
  tell(inert`No pattern of “${id}” is about “${tool}”, so agents see it.`);
}

/** Rejects with what a person can do. The person must save a file with other unsaved changes. */
async function change(
  { id, origin }: ServerStatus,
  { file, below }: ChangedFile,
  editsOf: (text: string) => Edits,
  byHand: string,
): Promise<void> {
  const name = fileLabel(file);
  if (origin === 'mcprc' && !below) {
    throw new Error(english`“${id}” comes from ${name}. Change it there.`);
  }
  const { document, isSaved } = await editFile({
    file,
    root: join(file, '../..'),
    name,
    editsOf: (local) => {
      const edits = below
        ? editsForMe({ shared: textInOurForm(below), local }, id, editsOf)
        : editsOf(local ?? '');
      if (edits) return edits;
      throw new Error(
        english`${name} could not be changed. Correct its errors first, or ${byHand}.`,
      );
    },
  });
  if (isSaved) return;
  await vscode.window.showTextDocument(document);
  tell(inert`${name} has other unsaved changes. Save it to apply the change to “${id}”.`);
}
