/** Shows what differs between two texts as one hunk in the form of `diff -u`. Everything here is pure. */
const context = 3;

/** Returns an empty text where nothing differs. */
export function lineDifference(before: string, after: string, label: string): string {
  if (before === after) return '';
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const head = old.slice(Math.max(0, start - context), start);
  const tail = old.slice(old.length - end, old.length - end + context);
  const [removed, added] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const from = start - head.length;
  const range = (middle: readonly string[]): string => {
    const count = head.length + middle.length + tail.length;
    return `${count === 0 ? from : from + 1},${count}`;
  };
  return [
    before === '' ? '--- /dev/null' : `--- ${label}`,
    `+++ ${label}`,
    `@@ -${range(removed)} +${range(added)} @@`,
    ...head.map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...tail.map((line) => ` ${line}`),
  ].join('\n');
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
