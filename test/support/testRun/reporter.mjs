/** mocha's own report, and its counts as JSON in the file that MCP_TOOLSETS_TEST_COUNTS names. */
import Mocha from 'mocha';
import { writeFileSync } from 'node:fs';

export default class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const file = process.env.MCP_TOOLSETS_TEST_COUNTS;
    if (!file) return;
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      writeFileSync(file, JSON.stringify({ passed: passes, failed: failures, skipped: pending }));
    });
  }
}
