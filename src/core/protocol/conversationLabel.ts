/** Names conversations for people: by the beginning of what makes each one unique, which is enough to tell a few apart. */

/** The conversations of `@minds`, and those of MCP sessions. */
const kinds = ['minds-', 'mcp-session:'] as const;

export function conversationLabel(conversation: string): string {
  const own = kinds.find((kind) => conversation.startsWith(kind) && conversation.length > kind.length) ?? '';
  const name = `conversation ${conversation.slice(own.length, own.length + 8)}`;
  return own === 'minds-' ? `@minds ${name}` : name;
}
