/** Writes the question about a call: all arguments, without invisible characters. Pure. */
import { bothEnds, inertLines, quoted, visible, type Inert } from '../../core/base/inert.js';
import type { CallQuestion } from '../../core/calling/permission.js';
import { conversationLabel } from '../../core/protocol/conversationLabel.js';

export type TitledQuestion = CallQuestion & { readonly conversationTitle?: string | undefined };
type CallText = Pick<TitledQuestion, 'conversation' | 'conversationTitle' | 'title' | 'arguments'>;

/** The most visible lines of a dialog and of a chat. */
const mostLines = 20;
const longestTitle = 100;

/**
 * Returns the conversation and all arguments. The server's title is on the last line and cannot
 * pass for an argument.
 */
function callText({ conversation, conversationTitle, title, arguments: input }: CallText): string {
  const name = conversationTitle === undefined ? '' : ` ${quoted(conversationTitle)}`;
  const from =
    conversation === undefined
      ? ''
      : `${bothEnds(`Asked by ${visible(conversationLabel(conversation))}${name}.`)}\n\n`;
  const json = JSON.stringify(input ?? {}, undefined, 2);
  const given = `${from}${json === '{}' ? 'The call has no arguments.' : `Arguments:\n${bothEnds(json)}`}`;
  if (title === undefined) return given;
  const rest = title.length > longestTitle ? '…' : '';
  return `${given}\n\n${bothEnds(`The server calls this tool ${quoted(title.slice(0, longestTitle))}${rest}`)}`;
}

export function argumentsText(question: CallText): Inert {
  return inertLines(callText(question));
}

export function callPage(question: TitledQuestion): string {
  const name = `${quoted(question.tool)} of ${quoted(question.toolset)}`;
  const head = bothEnds(
    `An agent wants to call ${name}.\nA line with | continues the line before it.`,
  );
  return `${head}\n\n${callText(question)}\n`;
}

export function fitsQuestion(text: string): boolean {
  return text.split('\n').length <= mostLines;
}
