/**
 * Slows the reading of event streams on which a server says more than anyone has use for (S2): nothing is dropped, the
 * socket makes the server wait. Below the rate nothing is delayed.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { delay, type Clock } from '../../base/clock.js';
import { TokenBucket } from '../../base/tokenBucket.js';
import { leastPause, unaskedRate, unaskedWeight } from '../unasked.js';

/** A request of the server counts as this many messages, because its answer is an exchange of its own. */
const weightOfRequest = 20;

export class EventPace {
  private readonly bucket: TokenBucket;
  private waitMs = 0;

  constructor(private readonly clock: Clock) {
    this.bucket = new TokenBucket(clock, unaskedRate, unaskedRate);
  }

  /**
   * @param length that of the text of one event, in characters
   * @param messages its messages; undefined where it is not JSON-RPC
   * @param isAsked whether an answer is one that we wait for
   */
  spend(
    length: number,
    messages: readonly JSONRPCMessage[] | undefined,
    isAsked: (message: JSONRPCMessage) => boolean,
  ): void {
    if (!messages) return this.spendOther(length);
    let unasked = 0;
    for (const message of messages) {
      if ('method' in message) unasked += 'id' in message ? weightOfRequest : 1;
      else if (!isAsked(message)) unasked += 1;
    }
    const weight = unaskedWeight(length, unasked);
    if (weight > 0) this.waitMs = this.bucket.take(weight);
  }

  /** For what has no messages: an event of another kind, a comment, a line that means nothing. */
  spendOther(length: number): void {
    this.waitMs = this.bucket.take(unaskedWeight(length, 1));
  }

  /** Resolves when more may be read, or when the body has been closed. */
  async rest(body: Readable): Promise<void> {
    const { waitMs } = this;
    this.waitMs = 0;
    if (waitMs === 0 || body.destroyed) return;
    const over = new AbortController();
    const { signal } = over;
    const closed = once(body, 'close', { signal });
    const passed = delay(this.clock, Math.max(leastPause, waitMs), signal);
    await Promise.race([closed, passed]).catch(() => undefined);
    over.abort();
    await Promise.allSettled([closed, passed]);
  }
}
