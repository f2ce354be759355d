/**
 * The limit of mocha for the test or hook that runs now. It is a limit for forgotten waits only: it
 * stops during work, and it never comes before the limit of an event, because that limit says what
 * was missing. Outside mocha, all of this does nothing.
 */

interface Running {
  readonly runnable: Mocha.Runnable;
  readonly begun: number;
  /** In milliseconds, 0 for none. */
  readonly limit: number;
  works: number;
}

type Run = (this: Mocha.Runnable, done: (error?: unknown) => void) => void;

let running: Running | undefined;

/**
 * Mocha's prototype is reached through its first hook, because an import of mocha would also load
 * it into benches.
 */
if (typeof globalThis.before === 'function') {
  before('follow the limits of tests and hooks', function () {
    const hook: object = this.runnable();
    followLimits(Object.getPrototypeOf(Object.getPrototypeOf(hook)) as object);
  });
}

/** @param of mocha's prototype of tests and hooks */
export function followLimits(of: object): void {
  const prototype = of as { run: Run };
  const { run } = prototype;
  prototype.run = function (done) {
    const mine: Running = { runnable: this, begun: Date.now(), limit: this.timeout(), works: 0 };
    running = mine;
    run.call(this, (error) => {
      // A limit that is set after the end would begin again.
      if (running === mine) running = undefined;
      done(error);
    });
  };
}

/** Stops the limit until the returned function is called. The limit begins again then. */
export function withoutLimit(): () => void {
  const mine = running;
  if (mine === undefined || mine.limit === 0) return () => undefined;
  mine.works++;
  mine.runnable.timeout(0);
  return () => {
    mine.works--;
    if (mine.works === 0) renew(mine, mine.limit);
  };
}

/** Postpones the limit if it would come within these milliseconds. */
export function outlast(ms: number): void {
  const mine = running;
  if (mine === undefined || mine.limit === 0 || mine.works > 0) return;
  const left = mine.runnable.timeout() - (Date.now() - mine.begun);
  if (left < ms) renew(mine, ms);
}

/** Mocha compares its limit with the time since the beginning. */
function renew(mine: Running, ms: number): void {
  if (running === mine) mine.runnable.timeout(Date.now() - mine.begun + ms);
}
