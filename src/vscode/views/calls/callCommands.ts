/** The commands of the view *Calls* for one call, and *Export…* and *Clear*. */
import * as vscode from 'vscode';
import type { Clock } from '../../../core/base/clock.js';
import { DisposableStore, type Disposable } from '../../../core/base/disposables.js';
import { inert } from '../../../core/base/inert.js';
import { makePrivateFile } from '../../../core/base/privateFile.js';
import { callCommand } from '../../../core/calls/command.js';
import { isCall, type CallFact, type Fact } from '../../../core/calls/fact.js';
import { clearCalls } from '../../../core/files/callFile.js';
import { isObject } from '../../../core/base/isObject.js';
import type { EngineSlot } from '../../engine/engineSlot.js';
import { command, window } from '../inertEditor.js';
import type { CallPages } from './callPages.js';

export interface CallCommandDeps {
  readonly slot: EngineSlot;
  readonly clock: Clock;
  readonly pages: CallPages;
  /** The file of the record; undefined if no folder is open. */
  readonly file: string | undefined;
}

interface Shown {
  /** Returns the facts in the view. */
  readonly shown: () => readonly Fact[];
  /** Reads the record again. */
  readonly reread: () => Promise<void> | undefined;
}

export function registerCallCommands(
  { slot, clock, pages, file }: CallCommandDeps,
  { shown, reread }: Shown,
): Disposable {
  const store = new DisposableStore('call commands');
  const register = (name: string, run: (fact: Fact | undefined) => Promise<void>): void => {
    store.add(command(name, (row: unknown) => run(factOf(row))));
  };
  const registerForCall = (name: string, run: (fact: CallFact) => Promise<void>): void =>
    register(name, async (fact) => {
      if (fact && isCall(fact)) await run(fact);
    });
  const contentOf = ({ id }: CallFact) => slot.engine?.recorder.contents.get(id);
  const argumentsOf = (fact: CallFact): Readonly<Record<string, unknown>> | undefined => {
    const given = contentOf(fact)?.given;
    return isObject(given) ? given : undefined;
  };

  registerForCall('showCall', async (fact) => {
    const uri = pages.add(fact, contentOf(fact), (text) => slot.engine?.redact(text) ?? text);
    await vscode.commands.executeCommand('vscode.open', uri, { preview: true });
  });
  registerForCall('tryCallAgain', async (fact) => {
    await vscode.commands.executeCommand('mcpToolsets.tryTool', fact.toolset, fact.tool, argumentsOf(fact) ?? {});
  });
  registerForCall('copyCallAsCommand', async (fact) => {
    const given = argumentsOf(fact);
    await vscode.env.clipboard.writeText(callCommand(fact.tool, given ?? {}, process.platform));
    if (!given) {
      void window.showInformationMessage(
        inert`The command has no arguments, because those of this call are not kept in this window.`,
      );
    }
  });
  register('showCallInstance', async (fact) => {
    if (fact?.instance === undefined) return;
    if (slot.engine?.recorder.isOwn(fact))
      await vscode.commands.executeCommand('mcpToolsets.revealInstance', fact.toolset, fact.instance);
    else void window.showInformationMessage(inert`Another program or an earlier window has started this instance.`);
  });
  register('exportCalls', async () => {
    const facts = shown();
    const uri = await window.showSaveDialog({
      title: inert`Export Calls`,
      filters: { 'JSON Lines': ['jsonl'] },
    });
    if (uri) await makePrivateFile(uri.fsPath, facts.map((fact) => `${JSON.stringify(fact)}\n`).join(''));
  });
  register('clearCalls', async () => {
    if (file === undefined) return;
    const clear = 'Clear';
    const detail = inert`The record is shared by all programs that serve this folder. Exported files stay.`;
    const question = inert`Remove the record of calls of this folder?`;
    if ((await window.showWarningMessage(question, { modal: true, detail }, clear)) !== clear) return;
    slot.engine?.recorder.contents.clear();
    await clearCalls(file, clock);
    await reread();
  });
  return store;
}

/** Another extension may run a command with any argument. */
function factOf(row: unknown): Fact | undefined {
  const fact = isObject(row) ? row['fact'] : undefined;
  return isObject(fact) && typeof fact['id'] === 'string' ? (fact as unknown as Fact) : undefined;
}
