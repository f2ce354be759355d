/** Reads or discards the body of a request, within bounds of size and time (G2). Never rejects. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../base/clock.js';

export interface BodyLimits {
  readonly maxBytes: number;
  /** The time from the end of the headers to the end of the body, in milliseconds. */
  readonly timeoutMs: number;
}

type BodyOutcome =
  | { readonly kind: 'read'; readonly text: string }
  /** The rest is discarded as it arrives, so the client reads the answer and not a reset. */
  | { readonly kind: 'tooLarge' }
  | { readonly kind: 'tooSlow' }
  | { readonly kind: 'aborted' };

/** This much is read from a client without the token, so it reads the answer and not a reset. */
export const strangersBody: BodyLimits = { maxBytes: 1 << 20, timeoutMs: 5_000 };

/**
 * Discards the body of a client without access, so it reads the answer and not a reset. Resolves at the end of the
 * body or at a limit.
 */
export function discardBody(request: IncomingMessage, limits: BodyLimits, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    let size = 0;
    const settle = (): void => {
      timer.dispose();
      request.off('data', take).off('end', settle).off('close', settle);
      // The socket is closed after the answer, with the rest of the body.
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
    // Listeners stay and discard the rest, because removing them costs more than calling them (P3).
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
    // Without a listener, the error of an aborted request would be thrown; `close` follows it.
    request
      .on('error', () => {})
      .on('data', take)
      .on('end', end)
      .on('close', gone);
  });
}
