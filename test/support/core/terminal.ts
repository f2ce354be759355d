/**
 * A program at a real terminal, a pseudo-terminal of `script` from util-linux. The test reads its
 * output and types into it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import { startedByTest } from './leftovers.js';
import { within } from './within.js';

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string | undefined>;
}

export const terminalsMissing = {
  here: process.platform !== 'linux',
  reason: 'the terminals of tests are made by `script` of util-linux',
} as const;

export class Terminal {
  /** All raw output. */
  shown = '';
  private readonly heard = new Emitter<void>();
  private readonly child: ChildProcess;
  private readonly ended: Promise<unknown>;

  constructor({ command, args, env }: Program, cwd: string, columns = 80) {
    const words = [command, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    // Most reviews fit on such a screen.
    const line = `stty cols ${columns} rows 60 -echo; exec ${words}`;
    this.child = spawn('script', ['-qfec', line, '/dev/null'], {
      cwd,
      env: { ...env, SHELL: '/bin/sh' },
    });
    this.ended = once(this.child, 'close');
    const forget = startedByTest(`a terminal with ${line}`, () => this.close());
    void this.ended.then(forget);
    this.child.stdout?.on('data', (chunk) => {
      this.shown += String(chunk);
      this.heard.fire();
    });
  }

  /** Resolves after this text appears. The next search starts behind it. */
  async until(text: RegExp): Promise<void> {
    const isThere = (): boolean => text.test(this.shown);
    if (!isThere())
      await within(nextEvent(this.heard.event, isThere), String(text), () => this.shown);
  }

  type(keys: string): void {
    this.child.stdin?.write(keys);
  }

  /** Closes the terminal. This ends the program unless it runs in a separate session. */
  async close(): Promise<void> {
    this.child.kill();
    await this.ended;
  }

  /** Resolves with the exit code of the program. */
  async end(): Promise<number | null> {
    await within(this.ended, 'the end of the terminal', () => this.shown);
    return this.child.exitCode;
  }
}
