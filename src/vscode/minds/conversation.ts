/**
 * Which conversation a question belongs to, and what it holds. The stable API gives no id of it, so each answer keeps its
 * turn, with the name of the dialog, among its metadata: the editor stores them with the chat, and a chat that is opened
 * again goes on as the same dialog.
 */
import * as vscode from 'vscode';
import { pastOf, type Past, type PastTurn, type TurnRecord } from '../../core/dialog/history.js';

const key = 'mcpToolsets';

export function metadataOf(record: TurnRecord): { readonly [key]: TurnRecord } {
  return { [key]: record };
}

export function conversationOf({ history }: vscode.ChatContext): Past {
  const turns: PastTurn[] = [];
  let question = '';
  for (const turn of history) {
    if (turn instanceof vscode.ChatRequestTurn) {
      question = turn.prompt;
      continue;
    }
    const record: unknown = (turn.result.metadata as Record<string, unknown> | undefined)?.[key];
    turns.push({ question, record, shown: shownIn(turn) });
    question = '';
  }
  return pastOf(turns);
}

export function recordIn(result: vscode.ChatResult): unknown {
  return (result.metadata as Record<string, unknown> | undefined)?.[key];
}

function shownIn({ response }: vscode.ChatResponseTurn): string {
  return response
    .map((part) => (part instanceof vscode.ChatResponseMarkdownPart ? part.value.value : ''))
    .join('')
    .trim();
}
