/** Counts of tests and their form in a terminal. */
import type { TestEvent } from './bridgeProtocol.ts';

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export interface Failure {
  fullTitle: string;
  error: string;
}

const colour =
  process.stdout.isTTY || process.env['FORCE_COLOR']
    ? (code: number, text: string) => `\x1b[${code}m${text}\x1b[0m`
    : plain;

/** Prints one suite's tests as they end, and counts them. */
export class SuiteReport {
  readonly counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  readonly failures: Failure[] = [];

  constructor(readonly name: string) {
    console.log(`\n${colour(1, name)}`);
  }

  readonly onEvent = (event: TestEvent): void => {
    switch (event.kind) {
      case 'suite':
        return this.#line(event.depth, event.title);
      case 'pass':
        this.counts.passed++;
        return this.#line(
          event.depth,
          `${colour(32, '✔')} ${event.title}${slow(event.durationMs)}`,
        );
      case 'skip':
        this.counts.skipped++;
        return this.#line(event.depth, colour(33, `- ${event.title} (skipped)`));
      case 'fail':
        return this.fail(event.fullTitle, event.error, event.depth, event.title);
    }
  };

  /** A failure outside any test. */
  fail(fullTitle: string, error: string, depth = 0, title = fullTitle): void {
    this.counts.failed++;
    this.failures.push({ fullTitle, error });
    this.#line(depth, colour(31, `✘ ${title}`));
    for (const line of error.split('\n').slice(0, 15)) this.#line(depth + 2, line);
  }

  skip(title: string): void {
    this.onEvent({ kind: 'skip', title, fullTitle: title, depth: 0 });
  }

  #line(depth: number, text: string): void {
    console.log(`${'  '.repeat(depth + 1)}${text}`);
  }
}

export function add(total: Counts, more: Counts): void {
  total.passed += more.passed;
  total.failed += more.failed;
  total.skipped += more.skipped;
}

/** `12 passed, 0 failed`, and skipped tests if there are any. */
export function summary({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function slow(durationMs: number): string {
  return durationMs > 500 ? colour(90, ` (${(durationMs / 1000).toFixed(1)} s)`) : '';
}

function plain(_code: number, text: string): string {
  return text;
}
