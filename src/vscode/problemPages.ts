/** Opens the documentation of a problem code: behind the link that each diagnostic has (spec E1). */
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../core/base/disposables.js';
import { explanation } from './explanation.js';

const scheme = 'mcp-toolsets-problem';

export function registerProblemPages(extensionUri: vscode.Uri): Disposable {
  const store = new DisposableStore('problem pages');
  const readme = vscode.Uri.joinPath(extensionUri, 'README.md');
  store.add(
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      provideTextDocumentContent: async ({ path }) => {
        const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(readme));
        return explanation(text, path.slice(1).replace(/\.md$/, ''));
      },
    }),
  );
  store.add(
    vscode.commands.registerCommand('mcpToolsets.explainProblem', async (code: string) => {
      const page = vscode.Uri.from({ scheme, path: `/${code}.md` });
      try {
        await vscode.commands.executeCommand('markdown.showPreview', page);
      } catch {
        // The Markdown extension is switched off: the text reads well enough.
        await vscode.window.showTextDocument(page);
      }
    }),
  );
  return store;
}
