/** Writes text of servers and files inside Markdown. Pure. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-!|<>~$]/g, '\\$&').replace(/\n/g, '  \n');
}

/** Wraps a text in a fence that is longer than any run of backticks inside it. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Makes a text one line of the chat, without its last full stop and cut if it is long. */
export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
