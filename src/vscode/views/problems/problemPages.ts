/** Provides `docs` and a page for each problem code (E1). Only the Problems view runs commands, so diagnostics link to pages. */
import * as vscode from 'vscode';
import type { Disposable } from '../../../core/base/disposables.js';
import { inert } from '../../../core/base/inert.js';
import { problemCodes, type ProblemCode } from '../../../core/base/problem.js';
import { explanation } from './problemTexts.js';
import { choose, commands } from '../inertEditor.js';

/** `package.json` has the same scheme. */
const scheme = 'mcp-toolsets-problem';

export function pageOf(code: ProblemCode): vscode.Uri {
  return vscode.Uri.from({ scheme, path: `/${code}.md` });
}

export function registerProblemPages(extensionUri: vscode.Uri): Disposable {
  const docs = vscode.Uri.joinPath(extensionUri, 'docs');
  const security = 'SECURITY.md';
  const read = async (name: string): Promise<string> => {
    const file = vscode.Uri.joinPath(name === security ? extensionUri : docs, name);
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  };
  const openDocumentation = async (): Promise<void> => {
    const names = (await vscode.workspace.fs.readDirectory(docs)).map(([name]) => name);
    const pages = [...names.sort(), security].map(async (name) => {
      const title = /^# (.+)/.exec(await read(name))?.[1] ?? name;
      return { title: title.replaceAll('`', ''), name };
    });
    const options = { placeHolder: inert`Choose a page` };
    const page = await choose(await Promise.all(pages), options, ({ title }) => ({ label: inert`${title}` }));
    if (page) await vscode.commands.executeCommand('vscode.open', vscode.Uri.from({ scheme, path: `/${page.name}` }));
  };
  const provider = vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: async ({ path }) => {
      const name = /^\/([\w-]+\.md)$/.exec(path)?.[1];
      if (name === undefined) return undefined;
      const code = problemCodes.find((one) => name === `${one}.md`);
      return code === undefined ? read(name) : explanation(await read('problems.md'), code);
    },
  });
  return vscode.Disposable.from(provider, commands({ openDocumentation }));
}
