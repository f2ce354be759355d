/**
 * Registers the help for config files (E1, E2). The working code brings the YAML parser, so the
 * first request loads it (P1).
 */
import * as vscode from 'vscode';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../core/base/isObject.js';
import { localPath } from '../../core/config/sources.js';
import { configPath } from '../engine/configFiles.js';
import type { Shell } from '../engine/shell.js';
import { serverOf } from '../views/rows/subject.js';
import type { Authoring } from './authoring.js';
import type { FileChange } from './fileEdits.js';
import { commands } from '../views/inertEditor.js';
import { lensFacts } from '../views/serverStates.js';

const files = [configPath, localPath].map((path) => ({
  scheme: 'file',
  pattern: `**/${path}`,
}));

export function registerAuthoring(shell: Shell): vscode.Disposable {
  const { slot } = shell;
  let loaded: Promise<Authoring> | undefined;
  const load = (): Promise<Authoring> =>
    (loaded ??= import('./authoring.js').then(({ createAuthoring }) => createAuthoring(slot)));
  const stale = new vscode.EventEmitter<void>();
  let shown: unknown;
  const languages = vscode.languages;
  return vscode.Disposable.from(
    languages.registerCompletionItemProvider(
      files,
      { provideCompletionItems: async (document, at) => (await load()).complete(document, at) },
      ' ',
      ':',
      "'",
      '"',
      '[',
      '{',
      ',',
      '/',
    ),
    languages.registerHoverProvider(files, {
      provideHover: async (document, at) => (await load()).hover(document, at),
    }),
    languages.registerRenameProvider(files, {
      prepareRename: async (document, at) => (await load()).prepareRename(document, at),
      provideRenameEdits: async (document, at, to) => (await load()).renameEdits(document, at, to),
    }),
    languages.registerCodeLensProvider(files, {
      onDidChangeCodeLenses: stale.event,
      provideCodeLenses: async (document) => (await load()).lenses(document),
    }),
    languages.registerDocumentSymbolProvider(files, {
      provideDocumentSymbols: async (document) => (await load()).symbols(document),
    }),
    languages.registerCodeActionsProvider(
      files,
      {
        provideCodeActions: async (document, range, context) =>
          (await load()).fixes(document, range, context),
      },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix, fixAllKind] },
    ),
    slot.onDidLoad(() => {
      void import('./ownEdits.js').then(({ followOwnEdits }) =>
        shell.context.subscriptions.push(followOwnEdits(slot)),
      );
    }),
    commands({
      setSecret: (subject, change) => setSecret(shell, subject, change),
      keepOutOfGit: (file) => keepOutOfGit(shell, file),
    }),
    slot.onDidChange(({ snapshot }) => {
      const next = snapshot.servers.map(lensFacts);
      if (isDeepStrictEqual(next, shown)) return;
      shown = next;
      stale.fire();
    }),
  );
}

async function keepOutOfGit({ slot }: Shell, file: unknown): Promise<void> {
  const local = slot.sources.find((one) => one.origin === 'local' && one.file === file);
  if (local) (await import('../../core/files/localFile.js')).keepOutOfGit(local.file);
}

/** A quick fix gives the name and the edit for its reference. The sidebar gives a row. */
async function setSecret(
  { slot, secrets }: Shell,
  subject: unknown,
  change: unknown,
): Promise<void> {
  const { chooseSecret, enterSecret } = await import('./enterSecret.js');
  const name =
    typeof subject === 'string' ? subject : await chooseSecret(slot, secrets, serverOf(subject));
  const isEntered = name !== undefined && (await enterSecret(secrets, name));
  if (!isEntered || !isChange(change)) return;
  const { editFile } = await import('./fileEdits.js');
  await editFile(change);
}

const fixAllKind = vscode.CodeActionKind.SourceFixAll.append('mcpToolsets');

function isChange(value: unknown): value is FileChange {
  return isObject(value) && typeof value['editsOf'] === 'function';
}
