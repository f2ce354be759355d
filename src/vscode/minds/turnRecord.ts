/** Writes and reads the record of a turn in the metadata of its answer. Does not import `vscode` at run time. */
import type * as vscode from 'vscode';
import type { TurnRecord } from '../../core/minds/history.js';

const key = 'mcpToolsets';

export function metadataOf(record: TurnRecord): { readonly [key]: TurnRecord } {
  return { [key]: record };
}

/** Returns the stored record, which may be any value. */
export function recordIn({ metadata }: vscode.ChatResult): unknown {
  return (metadata as Record<string, unknown> | undefined)?.[key];
}
