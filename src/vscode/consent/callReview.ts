/**
 * A document with all arguments of a call, for a call too long for a dialog (S4). The answers are in its title. `dispose` withdraws
 * the question and closes the document.
 */
import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposables.js';
import type { CallAnswer } from '../../core/host/permission.js';
import { ReadOnlyDocuments } from '../views/review/readOnlyDocuments.js';
import { answerBeside } from '../views/review/reviewQuestion.js';
import { callPage, type TitledQuestion } from './callQuestionText.js';

export class CallReview implements Disposable {
  private readonly documents = new ReadOnlyDocuments({ scheme: 'mcp-toolsets-question' });
  private readonly page: vscode.Uri;
  private isOver = false;
  private onClosed: () => void = () => undefined;
  private readonly tabs: Disposable;
  readonly closed = new Promise<void>((resolve) => (this.onClosed = resolve));

  constructor(question: TitledQuestion) {
    this.page = this.documents.add('MCP call, to be allowed.txt', callPage(question));
    this.tabs = vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      if (closed.some(this.shows) && !vscode.window.tabGroups.all.some(({ tabs }) => tabs.some(this.shows)))
        this.onClosed();
    });
  }

  /** Never rejects. If the document cannot be shown, it counts as closed. */
  async show(): Promise<void> {
    const shown = vscode.window.showTextDocument(this.page, { preview: false });
    await Promise.resolve(shown).catch(() => this.onClosed());
    if (this.isOver) await this.close();
  }

  /** Resolves to the answer in the document's title, or to an earlier one of `asked`. */
  async answer(asked: Thenable<CallAnswer>): Promise<CallAnswer> {
    const answers = { allowShown: 'once', allowAllShown: 'inConversation', refuseShown: 'no' } as const;
    return (await answerBeside([this.page], asked, answers)) ?? 'no';
  }

  dispose(): void {
    this.isOver = true;
    this.tabs.dispose();
    // While a document has a tab, the editor asks for its text.
    void this.close().finally(() => this.documents.dispose());
  }

  private async close(): Promise<void> {
    const own = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.filter(this.shows));
    if (own.length > 0) await Promise.resolve(vscode.window.tabGroups.close(own)).catch(() => undefined);
  }

  private readonly shows = ({ input }: vscode.Tab): boolean =>
    input instanceof vscode.TabInputText && input.uri.toString() === this.page.toString();
}
