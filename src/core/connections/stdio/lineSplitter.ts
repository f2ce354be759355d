/**
 * Splits bytes into lines, in linear time and bounded memory. The break is `\n`; one `\r` before it
 * is removed.
 */
interface LineSplitterDeps {
  /** The limit of a line in bytes, without its break; a function is called for each line. */
  readonly limit: number | (() => number);
  readonly onLine: (line: string) => void;
  /** Gets lines longer than this, in bytes, as pieces. */
  readonly long?: { readonly from: number; readonly onLine: (pieces: readonly Buffer[]) => void };
  /** For a line over the limit, `stop` ends all reading, and `skip` leaves it out. */
  readonly onExcess: (head: string) => 'stop' | 'skip';
  readonly onSkipped?: (head: string, tail: string) => void;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const smallPiece = 32 * 1024;
/** The part kept of each end of a skipped line, in bytes. */
export const endLength = 4 * 1024;

export class LineSplitter {
  private pieces: Buffer[] = [];
  private length = 0;
  private stopped = false;
  /** The beginning of a skipped line; its end is in `pieces`. */
  private skipped: Buffer | undefined;

  constructor(private readonly deps: LineSplitterDeps) {}

  push(chunk: Buffer): void {
    let start = 0;
    while (!this.stopped) {
      const end = chunk.indexOf(lineFeed, start);
      const stop = end < 0 ? chunk.length : end;
      if (this.skipped) this.keepEnd(chunk.subarray(start, stop));
      else if (this.length + stop - start > this.limit) {
        this.exceed(chunk.subarray(start, stop));
        continue;
      } else if (stop > start) this.keep(chunk.subarray(start, stop));
      if (end < 0) return;
      this.flush();
      start = end + 1;
    }
  }

  private get limit(): number {
    const { limit } = this.deps;
    return typeof limit === 'number' ? limit : limit();
  }

  get unfinished(): string {
    return this.skipped
      ? ''
      : Buffer.concat(this.pieces, Math.min(this.length, endLength)).toString();
  }

  end(): void {
    if (this.length > 0 && !this.stopped) this.flush();
  }

  /**
   * Joins small pieces, because a piece takes much memory besides its bytes and a server may write
   * single bytes.
   */
  private keep(piece: Buffer): void {
    const joined = [piece];
    let length = piece.length;
    for (let before = this.pieces.at(-1); before; before = this.pieces.at(-1)) {
      // Pieces join only with others about as long, so each byte is copied a few times at most.
      if (before.length >= smallPiece || before.length >= 2 * length) break;
      this.pieces.pop();
      joined.unshift(before);
      length += before.length;
    }
    this.pieces.push(joined.length === 1 ? piece : Buffer.concat(joined, length));
    this.length += piece.length;
  }

  private exceed(rest: Buffer): void {
    const { pieces, length } = this;
    const kept = Math.min(length + rest.length, endLength);
    const head = Buffer.from(Buffer.concat([...pieces, rest], kept));
    if (this.deps.onExcess(head.toString()) === 'stop') this.stopped = true;
    else this.skipped = head;
    this.pieces = [];
  }

  private keepEnd(piece: Buffer): void {
    this.pieces = [
      Buffer.concat([...this.pieces, piece.subarray(-endLength)]).subarray(-endLength),
    ];
    this.length = 1;
  }

  private flush(): void {
    const { pieces, length, skipped } = this;
    const { long, onLine, onSkipped } = this.deps;
    this.pieces = [];
    this.length = 0;
    this.skipped = undefined;
    if (skipped) return onSkipped?.(skipped.toString(), Buffer.concat(pieces).toString());
    if (long && length > long.from) return long.onLine(pieces);
    const [only] = pieces;
    const line = pieces.length === 1 && only ? only : Buffer.concat(pieces, length);
    onLine(
      line.toString('utf8', 0, line.at(-1) === carriageReturn ? line.length - 1 : line.length),
    );
  }
}
