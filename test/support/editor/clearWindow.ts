/**
 * Clears a window in the extension host between two suites, so that the next suite finds it like
 * new.
 */
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { folder, servers, until, untilTools } from './product.ts';

/** Closes open editors, empties the folder, and waits until no server of it is left. */
export async function clearWindow(): Promise<void> {
  const run = (command: string): Thenable<unknown> => vscode.commands.executeCommand(command);
  await run('workbench.action.closeQuickOpen');
  const unsaved = () => vscode.workspace.textDocuments.filter(({ isDirty }) => isDirty);
  // An editor that the last suite still opens takes the place of the shown one.
  const revert = async (): Promise<vscode.TextDocument[]> => {
    for (const document of unsaved()) {
      const shown = await vscode.window.showTextDocument(document).then(
        (editor) => editor === vscode.window.activeTextEditor,
        () => false,
      );
      if (shown) await run('workbench.action.revertAndCloseActiveEditor');
    }
    return unsaved();
  };
  await until(revert, (left) => left.length === 0, 'no unsaved document');
  await run('workbench.action.closeAllEditors');
  await run('workbench.action.closePanel');
  await run('notifications.clearAll');
  await run('notifications.hideList');
  await emptyFolder();
  await untilTools([]);
  await until(servers, (left) => left.length === 0, 'the end of every server');
  await run('workbench.view.explorer');
}

/**
 * `.minds` stays, because its creation is another event for a watcher than a change of its files.
 */
async function emptyFolder(): Promise<void> {
  const minds = join(folder(), '.minds');
  for (const name of await readdir(folder())) {
    if (name !== '.minds') await rm(join(folder(), name), { recursive: true });
  }
  const state = await lstat(minds).catch(() => undefined);
  if (state && !state.isDirectory()) await rm(minds);
  await mkdir(minds, { recursive: true });
  for (const name of await readdir(minds)) await rm(join(minds, name), { recursive: true });
}

type Settings = Readonly<Record<string, unknown>>;

/** Applies the user settings of the next suite, and makes the product read the current files. */
export async function changeSettings(before: Settings, now: Settings): Promise<void> {
  const changed = Object.keys({ ...before, ...now }).filter(
    (key) => !isDeepStrictEqual(before[key], now[key]),
  );
  for (const key of changed) {
    await vscode.workspace
      .getConfiguration()
      .update(key, now[key], vscode.ConfigurationTarget.Global);
  }
  await vscode.commands.executeCommand('mcpToolsets.reload');
}
