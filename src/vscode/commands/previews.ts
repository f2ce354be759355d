/** A file before and after a change, side by side, and beside it what to know. Nothing of it is written. */
import * as vscode from 'vscode';

interface Preview {
  /** Of the file, without its folder. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly title: string;
  readonly report: { readonly name: string; readonly text: string };
}

/** The editor remembers documents by their address, so each has one of its own. */
let count = 0;

export class Previews implements vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly provider: vscode.Disposable;

  /** @param scheme of its documents, nobody else's */
  constructor(private readonly scheme: string) {
    this.provider = vscode.workspace.registerTextDocumentContentProvider(scheme, {
      provideTextDocumentContent: ({ query }) => this.texts.get(query) ?? '',
    });
  }

  async show({ name, before, after, title, report }: Preview): Promise<void> {
    await this.close();
    const [left, right] = [this.document(name, before), this.document(name, after)];
    await vscode.commands.executeCommand('vscode.diff', left, right, title, { preview: false });
    const beside = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: false };
    const text = await vscode.workspace.openTextDocument(this.document(report.name, report.text));
    await vscode.window.showTextDocument(text, beside);
  }

  async close(): Promise<void> {
    const own = vscode.window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      .filter(({ input }) => {
        if (input instanceof vscode.TabInputTextDiff) return input.modified.scheme === this.scheme;
        return input instanceof vscode.TabInputText && input.uri.scheme === this.scheme;
      });
    if (own.length > 0) await vscode.window.tabGroups.close(own);
  }

  dispose(): void {
    this.provider.dispose();
  }

  private document(name: string, text: string): vscode.Uri {
    const query = String(++count);
    this.texts.set(query, text);
    return vscode.Uri.from({ scheme: this.scheme, path: `/${name}`, query });
  }
}
