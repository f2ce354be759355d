/**
 * mocha's own report. In a lane of `npm test` it also writes the journal (`journal.ts`), and
 * answers the watchdog, which asks by a file beside the journal.
 */
import Mocha from 'mocha';
import { appendFileSync, existsSync } from 'node:fs';
import { whatIsAlive } from './alive.mjs';

const everyMs = 1000;

export default class JournalReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const file = process.env.MCP_TOOLSETS_TEST_JOURNAL;
    if (!file) return;
    const write = (entry) => {
      try {
        appendFileSync(file, `${JSON.stringify(entry)}\n`);
      } catch {
        // A full disk. The missing end of the journal is a failure of the lane.
      }
    };
    const titled = (runnable) => write({ kind: 'begin', title: runnable.fullTitle() });
    runner.on('test', titled);
    runner.on('hook', titled);
    runner.on('test end', () => write({ kind: 'ended' }));
    runner.on('hook end', () => write({ kind: 'ended' }));
    runner.on('pass', () => write({ kind: 'passed' }));
    runner.on('pending', () => write({ kind: 'skipped' }));
    runner.on('fail', (test, error) => {
      write({ kind: 'failed', fullTitle: test.fullTitle(), error: messageWithCauses(error) });
    });
    runner.once('end', () => write({ kind: 'end' }));
    const asked = setInterval(() => {
      if (!existsSync(`${file}.ask`)) return;
      clearInterval(asked);
      write({ kind: 'alive', lines: whatIsAlive() });
    }, everyMs);
    asked.unref();
  }
}

function messageWithCauses(error) {
  const message = String(error?.message ?? error);
  return error?.cause === undefined
    ? message
    : `${message}\nCaused by: ${messageWithCauses(error.cause)}`;
}
