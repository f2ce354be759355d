/** Dialogs whose instance died, with the cause: they are told when they have another (spec X4). */

/** Dialogs end without a word; those that never come back must not be remembered for ever. */
const most = 1_000;

export class Bereaved {
  private readonly causes = new Map<string, string>();

  add(dialog: string, cause: string): void {
    this.causes.set(dialog, cause);
    const [oldest] = this.causes.keys();
    if (this.causes.size > most && oldest !== undefined) this.causes.delete(oldest);
  }

  /** The cause, once. */
  take(dialog: string): string | undefined {
    const cause = this.causes.get(dialog);
    this.causes.delete(dialog);
    return cause;
  }
}
