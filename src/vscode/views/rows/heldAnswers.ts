/**
 * Holds back what a view asks for until it can be answered. The editor (1.139) loses the news of a change that overtakes
 * its own first answer, and goes on showing that one; so the first answer is the right one, and no news follows it.
 */
export class HeldAnswers<T> {
  private isKnown = false;
  private waiting: ((answer: T) => void)[] = [];

  constructor(private readonly current: () => T) {}

  ask(): T | Promise<T> {
    if (this.isKnown) return this.current();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** From now on answers are held back, or given. Returns whether somebody waited and has the answer now. */
  become(isKnown: boolean): boolean {
    this.isKnown = isKnown;
    if (!isKnown) return false;
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve(this.current());
    return waiting.length > 0;
  }
}
