/**
 * Texts of problems: for the Problems view, and the page of a code. Pure; does not import `vscode`.
 */
import { said } from '../../../core/base/language.js';
import { inertLines, unmarked, type Inert } from '../../../core/base/inert.js';

/** Writes a text of a problem for the Problems view, which shows no Markdown. */
export function plainText(text: string): Inert {
  return inertLines(unmarked(text));
}

/**
 * Makes a page of one row of `docs/problems.md`, because the editor opens no preview at an anchor.
 */
export function explanation(problems: string, code: string): string {
  const row = problems.split(/\r?\n/).find((line) => line.startsWith(`| <a id="${code}">`));
  // `\|` is a bar inside a cell.
  const [, , meaning, remedy] = row?.split(/(?<!\\)\|/).map((cell) => cell.trim()) ?? [];
  if (meaning === undefined || remedy === undefined) return problems;
  const more = said`[Where to look first, and all other problems](problems.md)`;
  return [`# ${code}`, meaning, said`**What to do:** ${remedy}`, more].join('\n\n');
}
