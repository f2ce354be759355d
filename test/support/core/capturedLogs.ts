/** Every log line of the host and the servers, after redaction. A test can wait for a line. */
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import type { Log, LogLevel } from '../../../src/core/base/log.js';
import { within } from './within.js';

export interface LogLine {
  /** Undefined for the host. */
  readonly server: string | undefined;
  readonly level: LogLevel;
  readonly message: string;
}

export class CapturedLogs {
  readonly lines: LogLine[] = [];
  private readonly written = new Emitter<LogLine>();

  /** A sink for the host's log or a server's. */
  sink(server?: string): Log {
    return {
      write: (level, message) => {
        const line = { server, level, message };
        this.lines.push(line);
        this.written.fire(line);
      },
    };
  }

  async until(accept: (line: LogLine) => boolean, what: string): Promise<LogLine> {
    const there = this.lines.find(accept);
    return there ?? (await within(nextEvent(this.written.event, accept), what, () => this.text()));
  }

  text(server?: string): string {
    return this.lines
      .filter((line) => server === undefined || line.server === server)
      .map((line) => `${line.server ?? 'host'} [${line.level}] ${line.message}`)
      .join('\n');
  }
}
