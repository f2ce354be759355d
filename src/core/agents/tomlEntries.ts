/**
 * Writes entries into another program's TOML file, each as a separate table. Everything else stays. It handles only the
 * usual ways to write a table, so the caller checks the result.
 */
import { escapeRegExp } from '../base/text.js';
import type { EntryChange } from './jsonEntries.js';

/** @param text well-formed, or empty */
export function withTomlEntries(text: string, container: string, changes: readonly EntryChange[]): string {
  // A file may have line breaks of both kinds.
  const end = text.includes('\r\n') ? '\r' : '';
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  if (last !== '') lines.push(last + end);
  for (const { name, keys, removed, isNew } of changes) {
    const entries = Object.entries(keys).map(([key, value]) => [key, JSON.stringify(value)] as const);
    if (isNew) {
      if (lines.length > 0) lines.push(end);
      lines.push(`[${container}.${name}]${end}`);
      for (const [key, value] of entries) lines.push(`${key} = ${value}${end}`);
    } else setInTable(lines, container, name, { entries, removed }, end);
  }
  return `${lines.join('\n')}\n`;
}

function setInTable(
  lines: string[],
  container: string,
  name: string,
  {
    entries,
    removed,
  }: { readonly entries: readonly (readonly [string, string])[]; readonly removed: readonly string[] },
  lineEnd: string,
): void {
  const written = [name, JSON.stringify(name), `'${name}'`].map(escapeRegExp).join('|');
  const head = new RegExp(`^\\s*\\[\\s*${container}\\s*\\.\\s*(?:${written})\\s*\\]\\s*(?:#[^\\n]*)?$`);
  const start = lines.findIndex((line) => head.test(line));
  if (start < 0) return;
  const endOfTable = (): number => {
    const next = lines.findIndex((line, at) => at > start && /^\s*\[/.test(line));
    return next < 0 ? lines.length : next;
  };
  for (const key of removed) {
    const own = new RegExp(`^\\s*${key}\\s*=`);
    const at = lines.findIndex((line, index) => index > start && index < endOfTable() && own.test(line));
    if (at >= 0) lines.splice(at, 1);
  }
  // Each missing key becomes the first one.
  for (const [key, value] of [...entries].reverse()) {
    const end = endOfTable();
    const own = new RegExp(
      `^(\\s*${key}\\s*=\\s*)(?:"(?:[^"\\\\]|\\\\.)*"|'[^']*'|[\\w.+-]+|\\[[^\\]\\n]*\\])(\\s*(?:#[^\\n]*)?)$`,
    );
    const at = lines.findIndex((line, index) => index > start && index < end && own.test(line));
    if (at < 0) lines.splice(start + 1, 0, `${key} = ${value}${lineEnd}`);
    else lines[at] = (lines[at] ?? '').replace(own, (_, before: string, after: string) => before + value + after);
  }
}
