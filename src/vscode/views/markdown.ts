/** Text of servers and files inside Markdown. Pure. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-!|<>~$]/g, '\\$&').replace(/\n/g, '  \n');
}

/** For a line of the chat: without its last full stop, cut where it is long. */
export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
