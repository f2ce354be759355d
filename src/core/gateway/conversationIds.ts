/**
 * Finds the conversation that a request belongs to (G3). A conversation goes by the bare id that the editor gives it, so that
 * whoever else knows that id means the same conversation; what else tells conversations apart has a prefix each that no
 * conversation of the editor can take, so that one way of telling them apart never leads to what another one told.
 */
import type { Fields } from '../protocol/client.js';

const prefixes = {
  session: 'mcp-session:',
  address: 'mcp-address:',
  named: 'mcp-named:',
} as const;
const conversationKey = 'vscode.conversationId';

/** Returns the conversation of a client that names no conversation. */
export function sessionConversation(sessionId: string): string {
  return prefixes.session + sessionId;
}

/** Returns the conversation of a conversation that has an address of its own. */
export function addressConversation(address: string): string {
  return prefixes.address + address;
}

/** Returns the conversation of a conversation that a program names; it has no part in those of other programs. */
export function namedConversation(program: string, name: string): string {
  return `${prefixes.named}${program}:${name}`;
}

/** Returns the conversation that a client names, or undefined where it names none. */
export function conversationOf(meta: Fields | undefined): string | undefined {
  const conversation = meta?.[conversationKey];
  if (typeof conversation !== 'string' || conversation === '') return undefined;
  return Object.values(prefixes).some((prefix) => conversation.startsWith(prefix)) ? undefined : conversation;
}
