/** Takes the head, the tail and the size of a text in pieces (V3). No character is cut. */
import type { Pieces } from './pieces.js';

export class Excerpt {
  bytes = 0;
  private headBytes: Uint8Array = new Uint8Array();
  private tailBytes: Uint8Array = new Uint8Array();

  /** @param sizes in bytes of UTF-8; head and tail overlap in a text shorter than both */
  constructor(private readonly sizes: { readonly head: number; readonly tail: number }) {}

  /** Yields the same pieces as UTF-8. */
  *of(texts: Iterable<string>): Pieces {
    for (const text of texts) {
      const piece = Buffer.from(text);
      this.note(piece);
      yield piece;
    }
    return undefined;
  }

  get head(): string {
    return Buffer.from(this.headBytes).toString('utf8', 0, wholeUntil(this.headBytes));
  }

  get tail(): string {
    let start = 0;
    while (isInside(this.tailBytes[start])) start += 1;
    return Buffer.from(this.tailBytes).toString('utf8', start);
  }

  private note(piece: Uint8Array): void {
    this.bytes += piece.length;
    const { head, tail } = this.sizes;
    const missing = head - this.headBytes.length;
    // These are copies, because a view would keep the whole piece alive.
    if (missing > 0) this.headBytes = Buffer.concat([this.headBytes, piece.subarray(0, missing)]);
    const last = piece.length >= tail ? [piece.subarray(piece.length - tail)] : [this.tailBytes, piece];
    const joined = Buffer.concat(last);
    this.tailBytes = joined.subarray(Math.max(0, joined.length - tail));
  }
}

/** Returns the end of the last whole character. */
function wholeUntil(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > 0 && isInside(bytes[start])) start -= 1;
  const first = bytes[start] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? start : bytes.length;
}

/** True if a byte continues a character. */
function isInside(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
