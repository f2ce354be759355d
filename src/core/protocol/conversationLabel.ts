/**
 * Names conversations for people by the beginning of their unique part, enough to distinguish a
 * few.
 */

const kinds = ['minds-', 'mcp-session:'] as const;

export function conversationLabel(conversation: string): string {
  const own =
    kinds.find((kind) => conversation.startsWith(kind) && conversation.length > kind.length) ?? '';
  const name = `conversation ${conversation.slice(own.length, own.length + 8)}`;
  return own === 'minds-' ? `@minds ${name}` : name;
}
