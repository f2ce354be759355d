/**
 * Provides the documentation of problem codes as documents, which each diagnostic links to (E1). The links are not commands,
 * because of all the places that show them only the Problems view runs commands. An association in `package.json` makes the
 * pages open as previews.
 */
import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposables.js';
import type { ProblemCode } from '../../core/base/problem.js';
import { explanation } from './explanation.js';

/** The same scheme stands in `package.json`. */
const scheme = 'mcp-toolsets-problem';

export function pageOf(code: ProblemCode): vscode.Uri {
  return vscode.Uri.from({ scheme, path: `/${code}.md` });
}

export function registerProblemPages(extensionUri: vscode.Uri): Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: async ({ path }) => {
      return explanation(await readReadme(extensionUri), path.slice(1).replace(/\.md$/, ''));
    },
  });
}

/** Reads the README, whose name is in lower case in a package. */
async function readReadme(extensionUri: vscode.Uri): Promise<string> {
  const read = (name: string): Thenable<Uint8Array> =>
    vscode.workspace.fs.readFile(vscode.Uri.joinPath(extensionUri, name));
  const bytes = await read('README.md').then(undefined, () => read('readme.md'));
  return new TextDecoder().decode(bytes);
}
