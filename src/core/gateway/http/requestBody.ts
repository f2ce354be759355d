/** Reads the body of a request, or throws it away, within bounds of size and time (G2). Never rejects. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../base/clock.js';

export interface BodyLimits {
  readonly maxBytes: number;
  /** The time from the end of the headers to the end of the body, in milliseconds. */
  readonly timeoutMs: number;
}

type BodyOutcome =
  | { readonly kind: 'read'; readonly text: string }
  /** The rest is thrown away as it comes, so that the client reads the answer and not a reset. */
  | { readonly kind: 'tooLarge' }
  | { readonly kind: 'tooSlow' }
  /** The client is gone. */
  | { readonly kind: 'aborted' };

/** This much is taken in of a client without the token, which then reads the answer and not a reset. */
export const strangersBody: BodyLimits = { maxBytes: 1 << 20, timeoutMs: 5_000 };

/**
 * Takes in what a client without the right to ask sends, and keeps nothing of it: so the client reads the answer and not
 * a reset. Resolves at the end of the body or at a limit.
 */
export function discardBody(request: IncomingMessage, limits: BodyLimits, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    let size = 0;
    const settle = (): void => {
      timer.dispose();
      request.off('data', take).off('end', settle).off('close', settle);
      // The socket is closed after the answer, which ends what is still to come.
      request.pause();
      resolve();
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limits.maxBytes) settle();
    };
    const timer = clock.after(limits.timeoutMs, settle);
    request
      .on('error', () => {})
      .on('data', take)
      .on('end', settle)
      .on('close', settle);
  });
}

export function readBody(request: IncomingMessage, limits: BodyLimits, clock: Clock): Promise<BodyOutcome> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limits.maxBytes) {
    request.resume();
    return Promise.resolve({ kind: 'tooLarge' });
  }
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    let isSettled = false;
    const settle = (outcome: BodyOutcome): void => {
      if (isSettled) return;
      isSettled = true;
      chunks = [];
      timer.dispose();
      resolve(outcome);
    };
    // Listeners stay, as to take each off costs more than to call it (P3): what comes after all is thrown away by this.
    const take = (chunk: Buffer): void => {
      if (isSettled) return;
      size += chunk.length;
      if (size > limits.maxBytes) settle({ kind: 'tooLarge' });
      else chunks.push(chunk);
    };
    const end = (): void => {
      const [first] = chunks;
      const whole = chunks.length === 1 && first ? first : Buffer.concat(chunks, size);
      settle({ kind: 'read', text: whole.toString('utf8') });
    };
    const gone = (): void => settle({ kind: 'aborted' });
    const timer = clock.after(limits.timeoutMs, () => settle({ kind: 'tooSlow' }));
    // Without a listener the error of an aborted request would be thrown; `close` follows it.
    request
      .on('error', () => {})
      .on('data', take)
      .on('end', end)
      .on('close', gone);
  });
}
