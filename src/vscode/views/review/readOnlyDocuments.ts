/**
 * Documents that show a text and cannot be edited. A document never changes, because a person may have answered a
 * question about it, so each text gets an address of its own.
 */
import * as vscode from 'vscode';
import { randomBytes } from 'node:crypto';
import { BoundedMap } from '../../../core/base/boundedMap.js';
import type { Disposable } from '../../../core/base/disposables.js';

interface ReadOnlyDocumentsOptions {
  /** No documents of another kind may have this scheme. */
  readonly scheme: string;
  /** A document shows this when its text is no longer kept; for a scheme that is registered once. */
  readonly gone?: string;
  /** At most this many texts are kept; the oldest are dropped first. */
  readonly most?: number;
}

/** The editor remembers documents by their address, and chats keep those of earlier windows, so one is used once. */
const ofWindow = randomBytes(6).toString('hex');
let last = 0;

export class ReadOnlyDocuments implements Disposable {
  private readonly texts: BoundedMap<string, string>;
  private readonly provider: vscode.Disposable;

  constructor(private readonly options: ReadOnlyDocumentsOptions) {
    this.texts = new BoundedMap(options.most ?? Infinity);
    this.provider = vscode.workspace.registerTextDocumentContentProvider(options.scheme, {
      // Several may have one scheme at a time, and the editor asks the next one where this has no answer.
      provideTextDocumentContent: ({ path }) => this.texts.get(path) ?? options.gone,
    });
  }

  /** @param name The editor shows this name in the tab and derives the language from it. */
  add(name: string, text: string): vscode.Uri {
    const path = `/${ofWindow}-${++last}/${name}`;
    this.texts.set(path, text);
    return vscode.Uri.from({ scheme: this.options.scheme, path });
  }

  clear(): void {
    this.texts.clear();
  }

  /** Closes every tab that shows one of the documents. */
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
