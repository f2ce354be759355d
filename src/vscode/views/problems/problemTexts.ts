/** Texts of problems: for the Problems view, and the page of a code. Pure; does not import `vscode`. */
import { inertLines, unmarked, type Inert } from '../../../core/base/inert.js';
import type { Place, Problem, ProblemCode, Range, Severity } from '../../../core/base/problem.js';

export interface DiagnosticModel {
  readonly range: Range;
  /** The problem, and the remedy on the last line. */
  readonly message: Inert;
  readonly severity: Severity;
  readonly code: ProblemCode;
  readonly related: readonly { readonly message: Inert; readonly place: Place }[];
}

export function diagnosticsByFile(problems: readonly Problem[]): ReadonlyMap<string, readonly DiagnosticModel[]> {
  const files = new Map<string, DiagnosticModel[]>();
  for (const problem of problems) {
    const entries = files.get(problem.place.file) ?? [];
    files.set(problem.place.file, entries);
    entries.push({
      range: problem.place.range,
      message: inertLines(unmarked(`${problem.message.trimEnd()}\n${problem.fix}`)),
      severity: problem.severity,
      code: problem.code,
      related: (problem.related ?? []).map(({ message, place }) => ({ message: inertLines(unmarked(message)), place })),
    });
  }
  return files;
}

/** Makes a page of one row of `docs/problems.md`, because the editor opens no preview at an anchor. */
export function explanation(problems: string, code: string): string {
  const row = problems.split(/\r?\n/).find((line) => line.startsWith(`| <a id="${code}">`));
  // `\|` is a bar inside a cell.
  const [, , meaning, remedy] = row?.split(/(?<!\\)\|/).map((cell) => cell.trim()) ?? [];
  if (meaning === undefined || remedy === undefined) return problems;
  const more = '[Where to look first, and all other problems](problems.md)';
  return [`# ${code}`, meaning, `**What to do:** ${remedy}`, more].join('\n\n');
}
