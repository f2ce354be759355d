/**
 * Asks a person whether an agent may make a call (S4). The question is modal, because an agent would wait for a missed message. A
 * long call opens as a document. An extension cannot close a dialog or a message of the editor. A withdrawn question may
 * stay. Its answers mean nothing.
 */
import { unlessAborted } from '../../core/base/events.js';
import { inert } from '../../core/base/inert.js';
import type { CallAnswer, CallQuestion } from '../../core/host/permission.js';
import type { ConversationTitles } from '../engine/conversationTitles.js';
import { window } from '../views/inertEditor.js';
import { argumentsText, fitsQuestion } from './callQuestionText.js';
import { CallReview } from './callReview.js';

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
    return await inTime(window.showWarningMessage(text, { modal: true, detail }, once, inConversation), signal);
  }
  const review = new CallReview(question);
  try {
    await unlessAborted(review.show(), signal);
    const answered = inTime(window.showWarningMessage(text, once, inConversation, no), signal);
    return await review.answer(Promise.race([answered, review.closed.then((): CallAnswer => 'no')]));
  } finally {
    review.dispose();
  }
}

/** Resolves to the answer, or to `no` as soon as the question is withdrawn. */
async function inTime(asked: Thenable<string | undefined>, signal: AbortSignal): Promise<CallAnswer> {
  const answer = Promise.resolve(asked);
  void answer.then((late) => {
    if (signal.aborted && late !== undefined && late !== no)
      void window.showInformationMessage(inert`The agent no longer waits for this answer.`);
  });
  const given = await unlessAborted(answer, signal).catch(() => undefined);
  return given === inConversation ? 'inConversation' : given === once ? 'once' : 'no';
}
