/**
 * Finds the conversation that a question belongs to. The stable API gives it no id, so each answer keeps its turn and the name
 * of the conversation in its metadata. The editor stores them with the chat, and a chat that is opened again goes on as the same
 * conversation.
 */
import * as vscode from 'vscode';
import { pastOf, type Past, type PastTurn } from '../../core/minds/history.js';
import { recordIn } from './turnRecord.js';

export function conversationOf({ history }: vscode.ChatContext): Past {
  const turns: PastTurn[] = [];
  let question = '';
  for (const turn of history) {
    if (turn instanceof vscode.ChatRequestTurn) {
      question = turn.prompt;
      continue;
    }
    turns.push({ question, record: recordIn(turn.result), shown: shownIn(turn) });
    question = '';
  }
  return pastOf(turns);
}

function shownIn({ response }: vscode.ChatResponseTurn): string {
  return response
    .map((part) => (part instanceof vscode.ChatResponseMarkdownPart ? part.value.value : ''))
    .join('')
    .trim();
}
