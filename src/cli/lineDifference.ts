/**
 * Shows what differs between two texts as one hunk in the form of `diff -U0`. The lines around it are other people's, and may
 * hold secrets (E4): they are left out, and what had to be written anew of them is shown without. Everything here is pure.
 */
import { withoutSecrets } from '../core/base/secrets.js';

/** Returns an empty text where nothing differs. */
export function lineDifference(before: string, after: string, label: string): string {
  if (before === after) return '';
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const [removed, added] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const theirs = new Set(removed.map(bare));
  const shown = (line: string): string => (theirs.has(bare(line)) ? withoutSecrets(line) : line);
  const range = ({ length }: readonly string[]): string => `${length === 0 ? start : start + 1},${length}`;
  return [
    before === '' ? '--- /dev/null' : `--- ${label}`,
    `+++ ${label}`,
    `@@ -${range(removed)} +${range(added)} @@`,
    ...removed.map((line) => `-${shown(line)}`),
    ...added.map((line) => `+${shown(line)}`),
  ].join('\n');
}

/** A line that stands before another now may have a comma, or other blanks in front. */
function bare(line: string): string {
  return line.trim().replace(/,$/, '');
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
