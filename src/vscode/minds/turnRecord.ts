/** The record of a turn among the metadata of its answer, which the editor stores with the chat. Does not import `vscode`. */
import type * as vscode from 'vscode';
import type { TurnRecord } from '../../core/dialog/history.js';

const key = 'mcpToolsets';

export function metadataOf(record: TurnRecord): { readonly [key]: TurnRecord } {
  return { [key]: record };
}

/** As it comes back from the store: anything. */
export function recordIn({ metadata }: vscode.ChatResult): unknown {
  return (metadata as Record<string, unknown> | undefined)?.[key];
}
