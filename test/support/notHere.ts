/** Skips what cannot run on this system, with a reason that `npm run test:windows` prints. */

interface Skipped {
  pending?: boolean;
  notHere?: string;
}

/** In the function of `describe`: skips the whole suite where `condition` holds. */
export function suiteNotHere(suite: Mocha.Suite, condition: boolean, reason: string): void {
  if (condition) Object.assign(suite as Skipped, { pending: true, notHere: reason });
}

/** `it`, skipped where `condition` holds. */
export function itNotHere(
  condition: boolean,
  reason: string,
): (title: string, run: Mocha.Func | Mocha.AsyncFunc) => void {
  return (title, run) => {
    if (condition) Object.assign(it(title) as Skipped, { notHere: reason });
    else it(title, run as Mocha.AsyncFunc);
  };
}

/** `it` for a rule about something that Windows does not have. */
export function posixIt(reason: string): ReturnType<typeof itNotHere> {
  return itNotHere(process.platform === 'win32', reason);
}
