import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../base/clock.js';

export function isJson({ headers }: IncomingMessage): boolean {
  return /^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** The time from the end of the headers to the end of the body, in milliseconds. */
  readonly timeoutMs: number;
  readonly isDropped?: true;
}

type BodyOutcome =
  | { readonly kind: 'read'; readonly text: string }
  /** The rest is discarded as it arrives, so the client reads the answer and not a reset. */
  | {
      readonly kind: 'refused';
      readonly status: 408 | 413;
      readonly why: string;
    }
  | { readonly kind: 'aborted' };

const tooLarge = {
  kind: 'refused',
  status: 413,
  why: 'The body is too large.',
} as const;
const tooSlow = {
  kind: 'refused',
  status: 408,
  why: 'The body came too slowly.',
} as const;

/** Never rejects. */
export function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  clock: Clock,
): Promise<BodyOutcome> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limits.maxBytes) {
    request.resume();
    return Promise.resolve(tooLarge);
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
      if (size > limits.maxBytes) settle(tooLarge);
      else if (!limits.isDropped) chunks.push(chunk);
    };
    const end = (): void => {
      const [first] = chunks;
      const whole = chunks.length === 1 && first ? first : Buffer.concat(chunks);
      settle({ kind: 'read', text: whole.toString('utf8') });
    };
    const timer = clock.after(limits.timeoutMs, () => settle(tooSlow));
    // Without a listener, the error of an aborted request would be thrown; `close` follows it.
    request
      .on('error', () => {})
      .on('data', take)
      .on('end', end)
      .on('close', () => settle({ kind: 'aborted' }));
  });
}
