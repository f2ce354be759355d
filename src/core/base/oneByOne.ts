/**
 * Carries out the steps of one subject one after the other. A failed step does not stop the next.
 */
import { TransientMap } from './transientMap.js';

export class OneByOne {
  private readonly last = new TransientMap<string, Promise<unknown>>();

  add<Result>(subject: string, step: () => Promise<Result>): Promise<Result> {
    const result = (this.last.get(subject) ?? Promise.resolve()).then(step);
    const ended = result
      .catch(() => undefined)
      .finally(() => {
        if (this.last.get(subject) === ended) this.last.delete(subject);
      });
    this.last.set(subject, ended);
    return result;
  }
}
