/** mocha's own report. It also writes counts and failures as JSON to the file in MCP_TOOLSETS_TEST_COUNTS. */
import Mocha from 'mocha';
import { writeFileSync } from 'node:fs';

export default class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const file = process.env.MCP_TOOLSETS_TEST_COUNTS;
    if (!file) return;
    const failures = [];
    runner.on('fail', (test, error) => {
      failures.push({ fullTitle: test.fullTitle(), error: messageWithCauses(error) });
    });
    runner.once('end', () => {
      const { passes, failures: failed, pending } = this.stats;
      writeFileSync(file, JSON.stringify({ passed: passes, failed, skipped: pending, failures }));
    });
  }
}

function messageWithCauses(error) {
  const message = String(error?.message ?? error);
  return error?.cause === undefined ? message : `${message}\nCaused by: ${messageWithCauses(error.cause)}`;
}
