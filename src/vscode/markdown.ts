/** Text of servers and files inside Markdown. Pure. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-!|<>~$]/g, '\\$&').replace(/\n/g, '  \n');
}
