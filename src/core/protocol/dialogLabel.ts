/** Names dialogs for people: by the beginning of what makes each one unique, which is enough to tell a few apart. */

/** The dialogs of `@minds`, and those of MCP sessions. */
const kinds = ['minds-', 'mcp-session:'] as const;

export function dialogLabel(dialog: string): string {
  const own = kinds.find((kind) => dialog.startsWith(kind) && dialog.length > kind.length) ?? '';
  const name = `conversation ${dialog.slice(own.length, own.length + 8)}`;
  return own === 'minds-' ? `@minds ${name}` : name;
}
