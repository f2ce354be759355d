/** Registers the help for config files (E1, E2). The working code brings the YAML parser, so the first request loads it (P1). */
import * as vscode from 'vscode';
import { isDeepStrictEqual } from 'node:util';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import { configPath } from '../engine/configFiles.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { EnteredSecrets } from '../engine/enteredSecrets.js';
import { serverOf, type Subject } from '../views/rows/subject.js';
import type { Authoring } from './authoring.js';
import type { FileChange } from './fileEdits.js';
import { command } from '../views/inertEditor.js';
import { lensFacts } from '../views/serverStates.js';

export function registerAuthoring(
  slot: EngineSlot,
  secrets: EnteredSecrets,
  env: () => Readonly<Record<string, string | undefined>>,
): Disposable {
  const store = new DisposableStore('authoring');
  const files: vscode.DocumentSelector = { scheme: 'file', pattern: `**/${configPath}` };
  let loaded: Promise<Authoring> | undefined;
  const load = (): Promise<Authoring> => {
    loaded ??= import('./authoring.js').then(({ createAuthoring }) => createAuthoring(slot, env));
    return loaded;
  };
  const stale = store.add(new vscode.EventEmitter<void>());
  const providers = [
    vscode.languages.registerCompletionItemProvider(
      files,
      { provideCompletionItems: async (document, at) => (await load()).complete(document, at) },
      ...[' ', ':', "'", '"', '[', '{', ',', '/'],
    ),
    vscode.languages.registerHoverProvider(files, {
      provideHover: async (document, at) => (await load()).hover(document, at),
    }),
    vscode.languages.registerRenameProvider(files, {
      prepareRename: async (document, at) => (await load()).prepareRename(document, at),
      provideRenameEdits: async (document, at, to) => (await load()).renameEdits(document, at, to),
    }),
    vscode.languages.registerCodeLensProvider(files, {
      onDidChangeCodeLenses: stale.event,
      provideCodeLenses: async (document) => (await load()).lenses(document),
    }),
    vscode.languages.registerDocumentSymbolProvider(files, {
      provideDocumentSymbols: async (document) => (await load()).symbols(document),
    }),
    vscode.languages.registerCodeActionsProvider(
      files,
      { provideCodeActions: async (document, range, context) => (await load()).fixes(document, range, context) },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix, fixAllKind] },
    ),
  ];
  for (const provider of providers) store.add(provider);
  store.add(
    // A quick fix gives the name of the secret and the edit for its reference. The sidebar gives a row.
    command('setSecret', async (subject: Subject, change: FileChange | undefined) => {
      const { chooseSecret, enterSecret } = await import('./enterSecret.js');
      const server = serverOf(subject);
      const name = typeof subject === 'string' ? subject : await chooseSecret(slot, secrets, server);
      const isEntered = name !== undefined && (await enterSecret(secrets, name));
      if (isEntered && typeof change?.editsOf === 'function') await (await import('./fileEdits.js')).editFile(change);
    }),
  );
  let shown: unknown;
  store.add(
    slot.onDidChange(({ snapshot }) => {
      const next = snapshot.servers.map(lensFacts);
      if (isDeepStrictEqual(next, shown)) return;
      shown = next;
      stale.fire();
    }),
  );
  return store;
}

const fixAllKind = vscode.CodeActionKind.SourceFixAll.append('mcpToolsets');
