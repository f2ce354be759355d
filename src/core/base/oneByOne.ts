/** Carries out the steps of one subject one after the other. A step that fails does not keep the next from its turn. */
import { TransientMap } from './transientMap.js';

export class OneByOne {
  /** The last step of each subject. */
  private readonly last = new TransientMap<string, Promise<unknown>>();

  /** Settles as `step` does, which begins when everything before it has ended. */
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
