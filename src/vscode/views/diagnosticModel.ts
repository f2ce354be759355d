/** Problems as the Problems view wants them, grouped by file. Pure; does not import `vscode`. */
import type { Place, Problem, ProblemCode, Range, Severity } from '../../core/base/problem.js';

export interface DiagnosticModel {
  readonly range: Range;
  /** What is wrong on the first lines, what to do on the last. */
  readonly message: string;
  readonly severity: Severity;
  readonly code: ProblemCode;
  readonly related: readonly { readonly message: string; readonly place: Place }[];
}

/** In the order of the problems; files without problems are absent. */
export function diagnosticsByFile(problems: readonly Problem[]): ReadonlyMap<string, readonly DiagnosticModel[]> {
  const files = new Map<string, DiagnosticModel[]>();
  for (const problem of problems) {
    const entries = files.get(problem.place.file) ?? [];
    files.set(problem.place.file, entries);
    entries.push({
      range: problem.place.range,
      message: `${problem.message.trimEnd()}\n${problem.fix}`,
      severity: problem.severity,
      code: problem.code,
      related: problem.related ?? [],
    });
  }
  return files;
}
