/**
 * A document that cannot be edited. It never changes, because a person may have answered a question
 * about it.
 */
import * as vscode from 'vscode';
import { randomBytes } from 'node:crypto';
import { BoundedMap } from '../../../core/base/boundedMap.js';

interface ReadOnlyDocumentsOptions {
  /** No documents of another kind may have this scheme. */
  readonly scheme: string;
  /**
   * A document shows this after its text was dropped. Only for a scheme that is registered once.
   */
  readonly gone?: string;
  /** The most texts that are kept. The oldest are dropped first. */
  readonly most?: number;
}

type NamedText = readonly [name: string, text: string];

/**
 * The editor remembers documents by address, and chats keep addresses of earlier windows. So no
 * address repeats.
 */
const ofWindow = randomBytes(6).toString('hex');
let last = 0;

export class ReadOnlyDocuments implements vscode.Disposable {
  private readonly texts: BoundedMap<string, string | Promise<string>>;
  private readonly provider: vscode.Disposable;

  constructor(private readonly options: ReadOnlyDocumentsOptions) {
    this.texts = new BoundedMap(options.most ?? Infinity);
    this.provider = vscode.workspace.registerTextDocumentContentProvider(options.scheme, {
      // Several providers may share a scheme. Without an answer, the editor asks the next one.
      provideTextDocumentContent: ({ path }) => this.texts.get(path) ?? options.gone,
    });
  }

  /** @param name the name in the tab; the editor derives the language from it */
  add(name: string, text: string | Promise<string>): vscode.Uri {
    const path = `/${ofWindow}-${++last}/${name}`;
    this.texts.set(path, text);
    return vscode.Uri.from({ scheme: this.options.scheme, path });
  }

  /**
   * Shows two texts as a difference, in place of earlier ones. Resolves to the document of the
   * second one.
   */
  async compare(before: NamedText, after: NamedText, title: string): Promise<vscode.Uri> {
    await this.closeTabs();
    const left = this.add(...before);
    const right = this.add(...after);
    await vscode.commands.executeCommand('vscode.diff', left, right, title, { preview: false });
    return right;
  }

  clear(): void {
    this.texts.clear();
  }

  async closeTabs(): Promise<void> {
    const { scheme } = this.options;
    const isOwn = ({ input }: vscode.Tab): boolean =>
      (input instanceof vscode.TabInputText && input.uri.scheme === scheme) ||
      (input instanceof vscode.TabInputTextDiff && input.modified.scheme === scheme);
    const own = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.filter(isOwn));
    if (own.length > 0) await vscode.window.tabGroups.close(own);
  }

  dispose(): void {
    this.provider.dispose();
    this.clear();
  }
}
