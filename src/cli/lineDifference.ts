/**
 * Shows what differs between two texts as one hunk in the form of `diff -U0`. The lines around it are other people's, and may
 * hold secrets (E4): they are left out. What had to be written anew of them is shown without any value that was a secret
 * before, wherever it stands now; what is ours is shown as it is. Everything here is pure.
 */
import { Redactor } from '../core/base/log.js';
import { secretsIn, withoutSecrets } from '../core/base/secrets.js';

/** Returns an empty text where nothing differs. */
export function lineDifference(before: string, after: string, label: string): string {
  if (before === after) return '';
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const [removed, added] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const theirLines = new Set(removed.map(bare));
  // What the text as a whole tells is not told by each line.
  const theirs = new Set([before, ...removed].flatMap(valuesIn));
  const redactor = new Redactor();
  redactor.register(theirs);
  const known = (part: string): string => redactor.withoutRegistered(part);
  const shown = (line: string): string =>
    withoutSecrets(line, { known, ...(!theirLines.has(bare(line)) && { spare: (value) => !theirs.has(value) }) });
  const range = ({ length }: readonly string[]): string => `${length === 0 ? start : start + 1},${length}`;
  return [
    before === '' ? '--- /dev/null' : `--- ${label}`,
    `+++ ${label}`,
    `@@ -${range(removed)} +${range(added)} @@`,
    ...removed.map((line) => `-${shown(line)}`),
    ...added.map((line) => `+${shown(line)}`),
  ].join('\n');
}

function valuesIn(text: string): string[] {
  // As plain text, too: the same value may stand in JSON before, and in half of it now.
  const values = secretsIn(text);
  withoutSecrets(text, { spare: (value) => values.push(value) === 0 });
  return values;
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
