/** Writes the question about a call: all arguments, without invisible characters. Pure. */
import { said, translated } from '../../core/base/language.js';
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
  const from =
    conversation === undefined ? '' : `${bothEnds(askedBy(conversation, conversationTitle))}\n\n`;
  const json = JSON.stringify(input ?? {}, undefined, 2);
  const none = said`The call has no arguments.`;
  const given = from + (json === '{}' ? none : `${said`Arguments:`}\n${bothEnds(json)}`);
  if (title === undefined) return given;
  const rest = title.length > longestTitle ? '…' : '';
  return `${given}\n\n${bothEnds(said`The server calls this tool ${quoted(title.slice(0, longestTitle))}${rest}`)}`;
}

function askedBy(conversation: string, title: string | undefined): string {
  const label = visible(translated(conversationLabel(conversation)));
  return title === undefined ? said`Asked by ${label}.` : said`Asked by ${label} ${quoted(title)}.`;
}

export function argumentsText(question: CallText): Inert {
  return inertLines(callText(question));
}

export function callPage(question: TitledQuestion): string {
  const { tool, toolset } = question;
  const head = bothEnds(
    said`An agent wants to call ${quoted(tool)} of ${quoted(toolset)}.\nA line with | continues the line before it.`,
  );
  return `${head}\n\n${callText(question)}\n`;
}

export function fitsQuestion(text: string): boolean {
  return text.split('\n').length <= mostLines;
}
