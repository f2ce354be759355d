/** Makes a page of one row of `docs/problems.md`, because the editor opens no preview at an anchor. */
export function explanation(problems: string, code: string): string {
  const row = problems.split(/\r?\n/).find((line) => line.startsWith(`| <a id="${code}">`));
  // `\|` is a bar inside a cell.
  const [, , meaning, remedy] = row?.split(/(?<!\\)\|/).map((cell) => cell.trim()) ?? [];
  if (meaning === undefined || remedy === undefined) return problems;
  const more = '[Where to look first, and all other problems](problems.md)';
  return [`# ${code}`, meaning, `**What to do:** ${remedy}`, more].join('\n\n');
}
