/** A problem is something a person can act on. `problemCatalogue` has the texts of all. */
import type { ProblemCode } from './problemCatalogue.js';

export interface Position {
  readonly line: number;
  /** Counted from zero like lines, in UTF-16 code units. */
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  /** The first position behind the range. */
  readonly end: Position;
}

export type Place = { readonly file: string; readonly range: Range };

export type Severity = 'error' | 'warning' | 'information' | 'hint';

/** True if a person should look at a problem. Other problems are background. */
export function needsAttention({ severity }: Pick<Problem, 'severity'>): boolean {
  return severity === 'error' || severity === 'warning';
}

export interface Problem {
  readonly code: ProblemCode;
  readonly severity: Severity;
  readonly message: string;
  /** The next step, in the imperative. */
  readonly fix: string;
  readonly place: Place;
  readonly server?: string;
  /** The original name of the tool left out, or to leave out as a solution. */
  readonly tool?: string;
  readonly pattern?: string;
  /** The probably intended value in place of the present one. */
  readonly instead?: string;
  /** The number of the server's tools shown by the editor, if some are missing. */
  readonly inEditor?: number;
  readonly related?: readonly { readonly message: string; readonly place: Place }[];
}

export function byPlace({ place: a }: Problem, { place: b }: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  const one = a.range.start;
  const other = b.range.start;
  return one.line - other.line || one.character - other.character;
}
