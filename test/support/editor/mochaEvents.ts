/** A mocha run as events that this project counts and prints. */
import type Mocha from 'mocha';
import type { TestEvent } from './bridgeProtocol.ts';

/**
 * Runs it and leaves nothing of it in this process. Each runner passes unhandled rejections to
 * every other listener, so the listeners of earlier runs would double each rejection.
 *
 * @param prepare receives the runner before it begins
 * @returns the number of failed tests
 */
export async function runMocha(
  mocha: Mocha,
  report: (event: TestEvent) => void,
  prepare?: (runner: Mocha.Runner) => void,
): Promise<number> {
  let runner: Mocha.Runner | undefined;
  try {
    return await new Promise<number>((done) => {
      runner = mocha.run(done);
      prepare?.(runner);
      forwardEvents(runner, report);
    });
  } finally {
    runner?.dispose();
  }
}

function forwardEvents(runner: Mocha.Runner, report: (event: TestEvent) => void): void {
  runner.on('suite', (suite) => {
    if (!suite.root)
      report({ kind: 'suite', title: suite.title, depth: suite.titlePath().length - 1 });
  });
  runner.on('pass', (test) =>
    report({ kind: 'pass', ...named(test), durationMs: test.duration ?? 0 }),
  );
  runner.on('pending', (test) => report({ kind: 'skip', ...named(test) }));
  runner.on('fail', (test, error: unknown) =>
    report({ kind: 'fail', ...named(test), error: textOf(error) }),
  );
}

function named(test: Mocha.Runnable): { title: string; fullTitle: string; depth: number } {
  return { title: test.title, fullTitle: test.fullTitle(), depth: test.titlePath().length - 1 };
}

/** Assertion errors carry the compared values beside their message. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.stack?.includes(error.message)
    ? error.stack
    : `${error.message}\n${error.stack ?? ''}`;
}
