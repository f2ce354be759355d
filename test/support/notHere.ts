/** Skips tests that cannot run on this system. `npm run test:windows` prints the reason. */

interface Skipped {
  pending?: boolean;
  notHere?: string;
}

/** In the function of `describe`: skips the whole suite if `condition` holds. */
export function suiteNotHere(suite: Mocha.Suite, condition: boolean, reason: string): void {
  if (condition) Object.assign(suite as Skipped, { pending: true, notHere: reason });
}

/** `it`, skipped if `condition` holds. */
export function itNotHere(
  condition: boolean,
  reason: string,
): (title: string, run: Mocha.Func | Mocha.AsyncFunc) => void {
  return (title, run) => {
    if (condition) Object.assign(it(title) as Skipped, { notHere: reason });
    else it(title, run as Mocha.AsyncFunc);
  };
}

/** `it` for a rule about a feature that Windows lacks. */
export function posixIt(reason: string): ReturnType<typeof itNotHere> {
  return itNotHere(process.platform === 'win32', reason);
}
