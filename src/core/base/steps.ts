/**
 * Counts the steps of a walk over foreign values (S2h): with references, a short text unfolds to a
 * long walk.
 */

/** The most parts of one schema for all judgements that one tool needs. */
export const mostParts = 10_000;

/** So many entries of a list or a map are one step. */
const entriesOfStep = 20;

export class Steps {
  constructor(private left: number) {}

  /** False from the moment when the walk has taken more steps than it may. */
  take(steps = 1): boolean {
    this.left -= steps;
    return this.left >= 0;
  }

  takeFor(entries: number): boolean {
    return this.take(1 + Math.floor(entries / entriesOfStep));
  }

  get areSpent(): boolean {
    return this.left < 0;
  }
}
