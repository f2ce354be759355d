/**
 * A client's end of stdio without a process: a transport for the SDK's clients over two pipes to a
 * part of the product.
 */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LineSplitter } from '../../../src/core/connections/stdio/lineSplitter.js';

/** A message of either SDK. */
type Message = any; // oxlint-disable-line typescript/no-explicit-any

export class Pipe {
  onmessage?: (message: Message) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  private readonly input = new PassThrough();
  private readonly output = new PassThrough();
  private ended: Promise<void> = Promise.resolve();
  private delivered: Promise<void> = Promise.resolve();

  /** @param run serves its input until the input ends */
  constructor(
    private readonly run: (input: Readable, output: Writable, signal: AbortSignal) => Promise<void>,
  ) {}

  start(): Promise<void> {
    const lines = new LineSplitter({
      limit: 1 << 20,
      onLine: (line) => this.deliver(JSON.parse(line)),
      onExcess: () => 'stop',
    });
    this.output.on('data', (chunk: Buffer) => lines.push(chunk));
    this.ended = this.run(this.input, this.output, new AbortController().signal);
    return Promise.resolve();
  }

  /** The clients lose progress that arrives in the same turn as the answer. */
  private deliver(message: Message): void {
    this.delivered = this.delivered.then(() => nextTurn()).then(() => this.onmessage?.(message));
  }

  send(message: Message): Promise<void> {
    this.input.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.input.end();
    await this.ended;
    this.onclose?.();
  }
}
