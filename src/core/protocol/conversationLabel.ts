/**
 * The ids of conversations without a name (G3), and names for people: the beginning of the unique
 * part, enough to distinguish a few.
 */

import { english } from '../base/language.js';

const kinds = ['minds-', 'mcp-session:', 'mcp-address:'] as const;

export const sessionConversation = (sessionId: string): string => `mcp-session:${sessionId}`;
export const addressConversation = (address: string): string => `mcp-address:${address}`;

export function conversationLabel(conversation: string): string {
  const own =
    kinds.find((kind) => conversation.startsWith(kind) && conversation.length > kind.length) ?? '';
  const id = conversation.slice(own.length, own.length + 8);
  return own === 'minds-' ? english`@minds conversation ${id}` : english`conversation ${id}`;
}
