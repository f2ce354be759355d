/**
 * Finds the dialog that a request belongs to (G3). A conversation goes by the bare id that the editor gives it, so that
 * whoever else knows that id means the same dialog; a session goes by its id with a prefix that no conversation can
 * take.
 */
import type { Fields } from '../protocol/client.js';

const sessionPrefix = 'mcp-session:';
const conversationKey = 'vscode.conversationId';

/** @param own the dialog of the session, for what names no conversation */
export function dialogOf(meta: Fields | undefined, own: string): string {
  return conversationOf(meta) ?? own;
}

/** Returns the dialog of a client that names no conversation. */
export function sessionDialog(sessionId: string): string {
  return sessionPrefix + sessionId;
}

/** Returns the conversation that a client names, or undefined where it names none. */
export function conversationOf(meta: Fields | undefined): string | undefined {
  const conversation = meta?.[conversationKey];
  if (typeof conversation !== 'string' || conversation === '' || conversation.startsWith(sessionPrefix))
    return undefined;
  return conversation;
}
