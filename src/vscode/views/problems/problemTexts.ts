/** Texts of problems: for the Problems view, and the page of a code. Pure; does not import `vscode`. */
import { groupedBy } from '../../../core/base/groupedBy.js';
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
  const files = groupedBy(problems, ({ place }) => place.file);
  return new Map([...files].map(([file, own]) => [file, own.map(diagnosticOf)]));
}

function diagnosticOf({ severity, code, place, message, fix, related = [] }: Problem): DiagnosticModel {
  return {
    range: place.range,
    message: inertLines(unmarked(`${message.trimEnd()}\n${fix}`)),
    severity,
    code,
    related: related.map((one) => ({ message: inertLines(unmarked(one.message)), place: one.place })),
  };
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
