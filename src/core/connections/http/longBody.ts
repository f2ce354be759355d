/** Reads one body within the server's share of the event loop (S2). A long message also waits for a place. */
import type { Readable } from 'node:stream';
import type { Disposable } from '../../base/disposables.js';
import type { LoopShare } from '../../base/turns.js';
import { longMessage } from '../unasked.js';

export class LongBody implements Disposable {
  private place: Disposable | undefined;

  constructor(
    private readonly share: LoopShare,
    private readonly body: Readable,
  ) {}

  get isLong(): boolean {
    return this.place !== undefined;
  }

  /** Awaited before more is read of a message with this many bytes so far. */
  grow(length: number): Promise<void> | undefined {
    if (length <= longMessage || this.place) return undefined;
    return this.untilClosed(async (closed) => {
      this.place = await this.share.placeForLong(closed);
    });
  }

  /** Awaited before more is read. */
  rest(): Promise<void> | undefined {
    return this.share.waitMs === 0 ? undefined : this.untilClosed((closed) => this.share.rest(closed));
  }

  /** The message has been delivered. */
  dispose(): void {
    this.place?.dispose();
    this.place = undefined;
  }

  private async untilClosed(wait: (closed: AbortSignal) => Promise<void>): Promise<void> {
    const closed = new AbortController();
    const close = (): void => closed.abort();
    if (this.body.destroyed) close();
    this.body.once('close', close);
    await wait(closed.signal);
    this.body.off('close', close);
  }
}
