/**
 * Holds back the first answer to a view, because VS Code 1.139 loses changes before it and shows an
 * outdated answer.
 */
export class DelayedAnswers<T> {
  private isKnown = false;
  private readonly waiting: ((answer: T) => void)[] = [];

  constructor(private readonly current: () => T) {}

  ask(): T | Promise<T> {
    if (this.isKnown) return this.current();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /**
   * Holds answers back, or gives them. Returns true if an answer was waiting and has been given.
   */
  setKnown(isKnown: boolean): boolean {
    this.isKnown = isKnown;
    if (!isKnown) return false;
    const waiting = this.waiting.splice(0);
    for (const resolve of waiting) resolve(this.current());
    return waiting.length > 0;
  }
}
