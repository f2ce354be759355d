/** What an import did and did not do, for a person: Markdown that reads well as plain text too (C6). Pure. */
import type { Import, ImportNote } from './imported.js';

const headings: readonly (readonly [ImportNote['kind'], string])[] = [
  ['set', 'To do before they start'],
  ['changed', 'Written in another way'],
  ['lost', 'Not carried over'],
  ['skipped', 'Not imported'],
];

/** @param file as it is written for a person. */
export function reportText(file: string, { servers, notes }: Extract<Import, { kind: 'imported' }>): string {
  const ids = servers.map(({ id }) => `\`${id}\``).join(', ');
  const count = servers.length === 1 ? '1 server' : `${servers.length} servers`;
  const lines = [servers.length === 0 ? `Nothing to import from ${file}.` : `${count} from ${file}: ${ids}.`];
  for (const [kind, heading] of headings) {
    const found = notes.filter((note) => note.kind === kind);
    if (found.length === 0) continue;
    lines.push('', `## ${heading}`, '');
    for (const { server, message } of found) {
      lines.push(server === undefined ? `- ${message}` : `- \`${server}\`: ${message}`);
    }
  }
  return `${lines.join('\n')}\n`;
}
