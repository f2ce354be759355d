/**
 * The journal of a lane of `npm test`: a file with one JSON line for each event. It is complete up
 * to the moment of a sudden end, so the tests before it count. `reporter.mjs` writes the lines of
 * mocha.
 */
import { appendFileSync, closeSync, openSync, readSync } from 'node:fs';
import type { Counts, Failure } from '../editor/report.ts';

export type Entry =
  /** A test or hook has begun or ended. */
  | { readonly kind: 'begin'; readonly title: string }
  | { readonly kind: 'ended' }
  /** Work without a limit has begun or ended. */
  | { readonly kind: 'work'; readonly what: string }
  | { readonly kind: 'worked'; readonly what: string }
  | { readonly kind: 'passed' }
  | { readonly kind: 'skipped' }
  | ({ readonly kind: 'failed' } & Failure)
  /** The final results of an editor suite. */
  | { readonly kind: 'suite'; readonly counts: Counts; readonly failures: readonly Failure[] }
  /** The failures of an editor suite that will run a second time. */
  | { readonly kind: 'atFirst'; readonly failures: readonly Failure[] }
  /** An answer to the watchdog: what keeps the process alive. */
  | { readonly kind: 'alive'; readonly lines: readonly string[] }
  /** The last test has ended. */
  | { readonly kind: 'end' };

export const journalVariable = 'MCP_TOOLSETS_TEST_JOURNAL';

/** Adds a line to the journal of this process, if it has one. */
export function note(entry: Entry): void {
  const file = process.env[journalVariable];
  if (!file) return;
  try {
    appendFileSync(file, `${JSON.stringify(entry)}\n`);
  } catch {
    // A full disk. The missing end of the journal is a failure of the lane.
  }
}

/** Reads what was added to a growing file. A missing file is empty. */
export class GrowingFile {
  private at = 0;

  constructor(private readonly file: string) {}

  more(): Buffer {
    let descriptor: number;
    try {
      descriptor = openSync(this.file, 'r');
    } catch {
      return Buffer.alloc(0);
    }
    try {
      const parts: Buffer[] = [];
      for (;;) {
        const part = Buffer.alloc(64 * 1024);
        const read = readSync(descriptor, part, 0, part.length, this.at);
        if (read === 0) return Buffer.concat(parts);
        parts.push(part.subarray(0, read));
        this.at += read;
      }
    } finally {
      closeSync(descriptor);
    }
  }
}

/** Reads new entries. A torn line waits for its end. */
export class JournalReader {
  private readonly file: GrowingFile;
  private rest = Buffer.alloc(0);

  constructor(file: string) {
    this.file = new GrowingFile(file);
  }

  more(): Entry[] {
    const all = Buffer.concat([this.rest, this.file.more()]);
    const end = all.lastIndexOf('\n') + 1;
    this.rest = all.subarray(end);
    return entriesIn<Entry>(all.toString('utf8', 0, end));
  }
}

/** Lines that are not entries are left out. */
export function entriesIn<Line extends { readonly kind: string }>(text: string): Line[] {
  return text.split('\n').flatMap((line) => {
    try {
      const entry: unknown = JSON.parse(line);
      return typeof entry === 'object' && entry !== null && 'kind' in entry ? [entry as Line] : [];
    } catch {
      return [];
    }
  });
}
