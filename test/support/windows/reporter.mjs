/**
 * Writes one JSON line at the end of each test, so that the results of a broken run survive. The
 * run's patience multiplies the limits of tests and hooks.
 */
import Mocha from 'mocha';
import { appendFileSync } from 'node:fs';

const {
  EVENT_TEST_BEGIN,
  EVENT_HOOK_BEGIN,
  EVENT_TEST_PASS,
  EVENT_TEST_FAIL,
  EVENT_TEST_PENDING,
  EVENT_RUN_END,
} = Mocha.Runner.constants;

/** The reason from `notHere` in test/support/notHere.ts, at the test or a suite around it. */
function reasonOf(test) {
  for (let at = test; at; at = at.parent) if (at.notHere) return at.notHere;
  return undefined;
}

export default class JsonLines {
  constructor(runner) {
    const write = (entry) =>
      appendFileSync(process.env.MCP_TOOLSETS_TEST_LINES, `${JSON.stringify(entry)}\n`);
    const patience = Number(process.env.MCP_TOOLSETS_TEST_PATIENCE);
    const extended = new WeakSet();
    const extend = (runnable) => {
      if (!extended.has(runnable)) runnable.timeout(runnable.timeout() * patience);
      extended.add(runnable);
    };
    runner.on(EVENT_TEST_BEGIN, extend);
    runner.on(EVENT_HOOK_BEGIN, extend);
    runner.on(EVENT_TEST_PASS, (test) => write({ kind: 'passed', title: test.fullTitle() }));
    runner.on(EVENT_TEST_PENDING, (test) =>
      write({ kind: 'skipped', title: test.fullTitle(), reason: reasonOf(test) }),
    );
    runner.on(EVENT_TEST_FAIL, (test, error) => {
      const { actual, expected } = error ?? {};
      const difference =
        expected === undefined ? '' : `\n${JSON.stringify({ actual, expected })?.slice(0, 1500)}`;
      const cause = error?.cause ? `\nbecause of ${error.cause.stack ?? error.cause}` : '';
      write({
        kind: 'failed',
        title: test.fullTitle(),
        error: `${error?.stack ?? error}${difference}${cause}`,
      });
    });
    runner.on(EVENT_RUN_END, () => write({ kind: 'end' }));
  }
}
