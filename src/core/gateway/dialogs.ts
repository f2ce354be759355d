/**
 * Which conversation a call belongs to (spec G3), and which of the caller's `_meta` goes on to the server. Pure.
 * A conversation is named by the bare id that the editor gives it, so that whoever else knows that id means the same
 * dialog; a session is named by its id with a prefix, and no conversation can take such a name.
 */
import type { Params } from './jsonRpc.js';

const sessionPrefix = 'mcp-session:';
const conversationKey = 'vscode.conversationId';

export function dialogOf(meta: Params | undefined, sessionId: string): string {
  return conversationOf(meta) ?? sessionPrefix + sessionId;
}

/** Undefined: the caller names none. */
export function conversationOf(meta: Params | undefined): string | undefined {
  const conversation = meta?.[conversationKey];
  if (typeof conversation !== 'string' || conversation === '' || conversation.startsWith(sessionPrefix))
    return undefined;
  return conversation;
}

/** Without the progress token, which holds between the client and us, and without the editor's private keys. */
export function upstreamMeta(meta: Params | undefined): Params | undefined {
  if (meta === undefined) return undefined;
  const kept = Object.entries(meta).filter(([key]) => key !== 'progressToken' && !key.startsWith('vscode.'));
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}
