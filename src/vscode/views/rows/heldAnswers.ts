/**
 * Holds back the first answer to a view until it is known. VS Code 1.139 loses changes before its first answer, and
 * then shows the outdated answer. So the first answer is right, and no change event follows it.
 */
export class HeldAnswers<T> {
  private isKnown = false;
  private waiting: ((answer: T) => void)[] = [];

  constructor(private readonly current: () => T) {}

  ask(): T | Promise<T> {
    if (this.isKnown) return this.current();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Holds answers back, or gives them. Returns true if an answer was waiting and has been given. */
  become(isKnown: boolean): boolean {
    this.isKnown = isKnown;
    if (!isKnown) return false;
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve(this.current());
    return waiting.length > 0;
  }
}
