/**
 * The difference of two texts without context (E4). Rewritten lines of other people show no earlier
 * secret. Pure.
 */
import { withoutMark } from '../core/base/byteOrderMark.js';
import { Redactor } from '../core/base/log.js';
import { secretsIn, withoutSecrets } from '../core/base/secrets.js';

/** Returns an empty text for equal texts. A byte order mark is no difference. */
export function lineDifference(marked: string, written: string, label: string): string {
  const before = withoutMark(marked);
  const after = withoutMark(written);
  if (before === after) return '';
  const old = linesOf(before);
  const now = linesOf(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old.at(-1 - end) === now.at(-1 - end)
  )
    end++;
  const removed = old.slice(start, old.length - end);
  const added = now.slice(start, now.length - end);
  const theirLines = new Set(removed.map(bare));
  // Some secrets are recognisable only in the whole text.
  const theirs = new Set([before, ...removed].flatMap(valuesIn));
  const redactor = new Redactor();
  redactor.register(theirs);
  const known = (part: string): string => redactor.withoutRegistered(part);
  const shown = (line: string): string =>
    withoutSecrets(line, {
      known,
      ...(!theirLines.has(bare(line)) && { spare: (value) => !theirs.has(value) }),
    });
  const range = ({ length }: readonly string[]): string =>
    `${length === 0 ? start : start + 1},${length}`;
  return [
    before === '' ? '--- /dev/null' : `--- ${label}`,
    `+++ ${label}`,
    `@@ -${range(removed)} +${range(added)} @@`,
    ...removed.map((line) => `-${shown(line)}`),
    ...added.map((line) => `+${shown(line)}`),
  ].join('\n');
}

function valuesIn(text: string): string[] {
  // As plain text too, because the changed part of a JSON text is not JSON.
  const values = secretsIn(text);
  withoutSecrets(text, { spare: (value) => values.push(value) === 0 });
  return values;
}

/** Returns a line without indentation and comma, which change with its neighbours. */
function bare(line: string): string {
  return line.trim().replace(/,$/, '');
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
