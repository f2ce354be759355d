/** Groups problems by file for the Problems view. Pure; does not import `vscode`. */
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
