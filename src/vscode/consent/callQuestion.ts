/**
 * Asks whether an agent may make a call (S4). A modal question cannot be missed. A withdrawn one
 * may stay, without effect.
 */
import { said } from '../../core/base/language.js';
import * as vscode from 'vscode';
import { unlessAborted } from '../../core/base/events.js';
import { inert } from '../../core/base/inert.js';
import type { CallAnswer, CallQuestion } from '../../core/calling/permission.js';
import type { ConversationTitles } from '../engine/conversationTitles.js';
import { window } from '../views/inertEditor.js';
import { ReadOnlyDocuments } from '../views/review/readOnlyDocuments.js';
import { answerBeside } from '../views/review/reviewQuestion.js';
import { argumentsText, callPage, fitsQuestion, type TitledQuestion } from './callQuestionText.js';

export { fitsQuestion };

const once = 'Allow';
const inConversation = 'Allow in This Conversation';
const no = 'Do Not Allow';

export async function askForCall(
  asked: CallQuestion,
  signal: AbortSignal,
  titles: Pick<ConversationTitles, 'find'>,
): Promise<CallAnswer> {
  const { text: conversationTitle } =
    (asked.conversation === undefined ? undefined : await titles.find(asked.conversation)) ?? {};
  if (signal.aborted) return 'no';
  const question = { ...asked, conversationTitle };
  const detail = argumentsText(question);
  const text = inert`Let an agent call “${question.tool}” of “${question.toolset}”?`;
  if (fitsQuestion(detail)) {
    return await inTime(
      window.showWarningMessage(text, { modal: true, detail }, once, inConversation),
      signal,
    );
  }
  const review = new CallReview(question);
  try {
    await unlessAborted(review.show(), signal);
    const answered = inTime(window.showWarningMessage(text, once, inConversation, no), signal);
    return await review.answer(
      Promise.race([answered, review.closed.then((): CallAnswer => 'no')]),
    );
  } finally {
    review.dispose();
  }
}

/** Resolves to the answer, or to `no` as soon as the question is withdrawn. */
async function inTime(
  asked: Thenable<string | undefined>,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const answer = Promise.resolve(asked);
  void answer.then((late) => {
    if (signal.aborted && late !== undefined && late !== no)
      void window.showInformationMessage(inert`The agent no longer waits for this answer.`);
  });
  const given = await unlessAborted(answer, signal).catch(() => undefined);
  return given === inConversation ? 'inConversation' : given === once ? 'once' : 'no';
}

/**
 * A document with all arguments of a call, and the answers in its title. `dispose` withdraws the
 * question and closes it.
 */
export class CallReview implements vscode.Disposable {
  private readonly documents = new ReadOnlyDocuments({ scheme: 'mcp-toolsets-question' });
  private readonly page: vscode.Uri;
  private isOver = false;
  private onClosed: () => void = () => undefined;
  private readonly tabs: vscode.Disposable;
  readonly closed = new Promise<void>((resolve) => (this.onClosed = resolve));

  constructor(question: TitledQuestion) {
    this.page = this.documents.add(said`MCP call, to be allowed.txt`, callPage(question));
    this.tabs = vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      if (
        closed.some(this.shows) &&
        !vscode.window.tabGroups.all.some(({ tabs }) => tabs.some(this.shows))
      )
        this.onClosed();
    });
  }

  /** Never rejects. If the document cannot be shown, it counts as closed. */
  async show(): Promise<void> {
    const shown = vscode.window.showTextDocument(this.page, { preview: false });
    await Promise.resolve(shown).catch(() => this.onClosed());
    if (this.isOver) await this.close();
  }

  async answer(asked: Thenable<CallAnswer>): Promise<CallAnswer> {
    const answers = {
      allowShown: 'once',
      allowAllShown: 'inConversation',
      refuseShown: 'no',
    } as const;
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
    if (own.length > 0)
      await Promise.resolve(vscode.window.tabGroups.close(own)).catch(() => undefined);
  }

  private readonly shows = ({ input }: vscode.Tab): boolean =>
    input instanceof vscode.TabInputText && input.uri.toString() === this.page.toString();
}
