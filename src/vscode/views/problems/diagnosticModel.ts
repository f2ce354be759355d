/** Groups problems by file, in the form that the Problems view needs. It is pure and does not import `vscode`. */
import { inertLines, unmarked, type Inert } from '../../../core/base/inert.js';
import type { Place, Problem, ProblemCode, Range, Severity } from '../../../core/base/problem.js';

export interface DiagnosticModel {
  readonly range: Range;
  /** The first lines say what is wrong, and the last one says what to do. */
  readonly message: Inert;
  readonly severity: Severity;
  readonly code: ProblemCode;
  readonly related: readonly { readonly message: Inert; readonly place: Place }[];
}

/** Keeps the order of the problems. Files without problems are absent. */
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
