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

  /** The number of problems that are kept from now on, whatever they are. */
  get room(): number {
    return Math.max(0, this.most - this.kept.length);
  }

  note(found: Problem): undefined {
    if (this.room > 0 || (found.severity === 'error' && !this.failed)) this.kept.push(found);
    else this.leftOut++;
    return undefined;
  }

  /** Notes what is no error. It is not made where it would be left out, because finding what was meant takes time. */
  noteWarning(make: () => Problem): void {
    if (this.room > 0) this.kept.push(make());
    else this.leftOut++;
  }

  /** Takes over what a part has kept, which was given the room that was left. */
  takeOver(part: ProblemList): void {
    for (const found of part.kept) this.kept.push(found);
    this.leftOut += part.leftOut;
  }

  /** Makes a warning that was noted an error. */
  worsen(found: Problem): undefined {
    const index = this.kept.indexOf(found);
    if (index >= 0) this.kept[index] = { ...found, severity: 'error' };
    return undefined;
  }

  /** Makes everything that was noted information. */
  soften(): void {
    for (const [index, found] of this.kept.entries()) this.kept[index] = { ...found, severity: 'information' };
  }

  /** Returns what was kept and, where more was found, a problem that says how much. */
  whole(file: string): readonly Problem[] {
    return this.leftOut === 0 ? this.kept : [problemsLeftOut(file, this.leftOut), ...this.kept];
  }
}
