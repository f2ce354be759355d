/**
 * The last facts of a folder in memory, oldest first, each with a number that grows and never
 * changes.
 */
import { lastFacts, type Fact } from './fact.js';

export interface NumberedFact {
  readonly number: number;
  readonly fact: Fact;
}

export class FactLog {
  private facts: NumberedFact[] = [];
  private next = 0;

  constructor(private readonly most: number) {}

  get all(): readonly NumberedFact[] {
    return this.facts;
  }

  /** @param isWhole true if the lines are all that count, because their file was written again */
  take(lines: readonly string[], isWhole: boolean): void {
    const read = lastFacts(lines, this.most);
    const last = this.facts.at(-1)?.fact.id;
    const known = isWhole ? read.findLastIndex(({ id }) => id === last) : -1;
    if (isWhole && known < 0) this.facts = [];
    for (const fact of read.slice(known + 1)) this.facts.push({ number: this.next++, fact });
    if (this.facts.length > this.most) this.facts = this.facts.slice(-this.most);
  }
}
