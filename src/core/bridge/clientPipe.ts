/** The transport to a client over the standard input and output of this process. */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Readable, Writable } from 'node:stream';
import { LineSplitter } from '../connections/stdio/lineSplitter.js';
import { errorCodes } from '../protocol/errors.js';
import { errorMessage, messagesOf, parsePayload, wireMessage } from '../protocol/jsonRpc.js';

/** The gateway takes this much in one body. */
const longestLine = 16 << 20;

const noAnswer = { code: errorCodes.internal, message: 'The client answered with neither a result nor an error.' };

export class ClientPipe implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(
    private readonly input: Readable,
    private readonly output: Writable,
  ) {}

  start(): Promise<void> {
    const lines = new LineSplitter({
      limit: longestLine,
      onLine: (line) => this.hear(line),
      onExcess: () => {
        this.input.destroy();
        return 'stop';
      },
    });
    this.input.on('data', (chunk: Buffer) => lines.push(chunk));
    return Promise.resolve();
  }

  /** Resolves when the client has ended its input or the signal is aborted. */
  untilEnd(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      for (const event of ['end', 'close', 'error']) this.input.once(event, () => resolve());
      this.output.once('error', () => resolve());
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.output.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.input.pause();
    this.onclose?.();
    return Promise.resolve();
  }

  private hear(line: string): void {
    if (line.trim() === '') return;
    const payload = parsePayload(line);
    if (payload.kind === 'unreadable') return void this.output.write(`${errorMessage(null, payload.error)}\n`);
    for (const message of messagesOf(payload)) {
      if (message.kind === 'invalid') this.output.write(`${errorMessage(message.id, message.error)}\n`);
      const isEmpty = message.kind === 'response' && !message.result && !message.error;
      const read = wireMessage(isEmpty ? { ...message, error: noAnswer } : message);
      if (read) this.onmessage?.(read);
    }
  }
}
