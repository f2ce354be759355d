/** Reads one body as its server may be read (S2): long parts of it where there is a place, and all of it within its share. */
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

  /** Is awaited before more is read of a message of which so many bytes are there. */
  grow(length: number): Promise<void> | undefined {
    if (length <= longMessage || this.place) return undefined;
    return this.untilClosed(async (closed) => {
      this.place = await this.share.placeForLong(closed);
    });
  }

  /** Is awaited before more is read. */
  rest(): Promise<void> | undefined {
    return this.share.waitMs === 0 ? undefined : this.untilClosed((closed) => this.share.rest(closed));
  }

  /** The message has been heard. */
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
