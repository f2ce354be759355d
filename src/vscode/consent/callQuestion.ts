/** Asks a person whether an agent may make a call (S4). The dialog is modal, because an agent would wait for a missed question. */
import { inert } from '../../core/base/inert.js';
import type { CallAnswer, CallQuestion } from '../../core/host/permission.js';
import { window } from '../views/inertEditor.js';
import { argumentsText } from './callQuestionText.js';

const once = 'Allow';
const inConversation = 'Allow in This Conversation';

export async function askForCall(question: CallQuestion): Promise<CallAnswer> {
  const { tool, toolset } = question;
  const answer = await window.showWarningMessage(
    inert`Let an agent call “${tool}” of “${toolset}”?`,
    { modal: true, detail: argumentsText(question) },
    once,
    inConversation,
  );
  if (answer === inConversation) return 'inConversation';
  return answer === once ? 'once' : 'no';
}
