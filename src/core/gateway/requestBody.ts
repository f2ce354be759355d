/** Reads the body of a request within bounds of size and time (G2). Never rejects. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../base/clock.js';

export interface BodyLimits {
  readonly maxBytes: number;
  /** From the end of the headers to the end of the body, in milliseconds. */
  readonly timeoutMs: number;
}

type BodyOutcome =
  | { readonly kind: 'read'; readonly text: string }
  /** The rest is thrown away as it comes, so that the client reads the answer and not a reset. */
  | { readonly kind: 'tooLarge' }
  | { readonly kind: 'tooSlow' }
  /** The client is gone. */
  | { readonly kind: 'aborted' };

export function readBody(request: IncomingMessage, limits: BodyLimits, clock: Clock): Promise<BodyOutcome> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limits.maxBytes) {
    request.resume();
    return Promise.resolve({ kind: 'tooLarge' });
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: BodyOutcome): void => {
      timer.dispose();
      request.off('data', take).off('end', end).off('close', gone);
      if (outcome.kind !== 'read') request.resume();
      resolve(outcome);
    };
    const take = (chunk: Buffer): void => {
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
