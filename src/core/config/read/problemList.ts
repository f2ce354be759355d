/**
 * Collects the problems of a file or of a part of it, up to a number: a few aliases make a great many of one mistake (S2).
 *
 * Invariant: the first error is kept beyond the number, because a file is refused for it, or a server invalid (C4).
 */
import type { Problem } from '../../base/problem.js';
import { problemsLeftOut } from '../problems.js';

/** The number of problems of one file. */
const mostProblems = 500;

export class ProblemList {
  private readonly kept: Problem[] = [];
  private leftOut = 0;

  constructor(private readonly most = mostProblems) {}

  get problems(): readonly Problem[] {
    return this.kept;
  }

  /** True once there is an error. */
  get failed(): boolean {
    return this.kept.some((found) => found.severity === 'error');
  }

  /** The number of further problems to keep. */
  get room(): number {
    return Math.max(0, this.most - this.kept.length);
  }

  note(found: Problem): undefined {
    if (this.room > 0 || (found.severity === 'error' && !this.failed)) this.kept.push(found);
    else this.leftOut++;
    return undefined;
  }

  /** Notes a warning or information. Without room, it is not made, because the search for a suggestion takes time. */
  noteWarning(make: () => Problem): void {
    if (this.room > 0) this.kept.push(make());
    else this.leftOut++;
  }

  /** Takes over the problems of a part. The part had the remaining room. */
  takeOver(part: ProblemList): void {
    for (const found of part.kept) this.kept.push(found);
    this.leftOut += part.leftOut;
  }

  /** Makes a noted warning an error. */
  worsen(found: Problem): undefined {
    const index = this.kept.indexOf(found);
    if (index >= 0) this.kept[index] = { ...found, severity: 'error' };
    return undefined;
  }

  /** Makes all noted problems information. */
  soften(): void {
    for (const [index, found] of this.kept.entries()) this.kept[index] = { ...found, severity: 'information' };
  }

  /** Returns the kept problems and, if there were more, a problem with their number. */
  whole(file: string): readonly Problem[] {
    return this.leftOut === 0 ? this.kept : [problemsLeftOut(file, this.leftOut), ...this.kept];
  }
}
