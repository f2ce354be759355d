/**
 * Splits bytes into lines, in linear time however the bytes arrive, in bounded memory. A character split between two
 * chunks comes out whole. The line break is `\n`; one `\r` before it is taken off.
 */
interface LineSplitterDeps {
  /** The limit of a line in bytes, without its break. */
  readonly limit: number;
  readonly onLine: (line: string) => void;
  /**
   * Called when a line grows over the limit: `cut` gives its pieces as lines, cut between words; `stop` ends all
   * reading.
   */
  readonly onExcess: () => 'cut' | 'stop';
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
/** Pieces of more bytes than this are kept as they came. */
const smallPiece = 32 * 1024;

export class LineSplitter {
  private pieces: Buffer[] = [];
  private length = 0;
  private stopped = false;

  constructor(private readonly deps: LineSplitterDeps) {}

  push(chunk: Buffer): void {
    let start = 0;
    while (!this.stopped) {
      const end = chunk.indexOf(lineFeed, start);
      const stop = end < 0 ? chunk.length : end;
      if (this.length + stop - start > this.deps.limit) {
        start += this.exceed(chunk.subarray(start, stop));
        continue;
      }
      if (stop > start) this.keep(chunk.subarray(start, stop));
      if (end < 0) return;
      this.flush();
      start = end + 1;
    }
  }

  /** Gives what came after the last break, if anything did. */
  end(): void {
    if (this.length > 0 && !this.stopped) this.flush();
  }

  /** A piece takes much memory besides its bytes, and a server may write them one by one: small ones are joined. */
  private keep(piece: Buffer): void {
    const joined = [piece];
    let length = piece.length;
    for (let before = this.pieces.at(-1); before; before = this.pieces.at(-1)) {
      // Joined only with what is about as long, each byte is copied a few times at most.
      if (before.length >= smallPiece || before.length >= 2 * length) break;
      this.pieces.pop();
      joined.unshift(before);
      length += before.length;
    }
    this.pieces.push(joined.length === 1 ? piece : Buffer.concat(joined, length));
    this.length += piece.length;
  }

  /** Takes what fits; returns how much of `rest` was taken. */
  private exceed(rest: Buffer): number {
    if (this.deps.onExcess() === 'stop') {
      this.stopped = true;
      this.pieces = [];
      return 0;
    }
    const taken = this.deps.limit - this.length;
    const whole = Buffer.concat([...this.pieces, rest.subarray(0, taken)]);
    const lastSpace = whole.lastIndexOf(space);
    const cut = lastSpace > whole.length / 2 ? lastSpace : whole.length;
    this.deps.onLine(whole.toString('utf8', 0, cut));
    this.pieces = [];
    this.length = 0;
    if (cut < whole.length) this.keep(whole.subarray(cut));
    return taken;
  }

  private flush(): void {
    const [only] = this.pieces;
    const line = this.pieces.length === 1 && only ? only : Buffer.concat(this.pieces, this.length);
    this.pieces = [];
    this.length = 0;
    const end = line[line.length - 1] === carriageReturn ? line.length - 1 : line.length;
    this.deps.onLine(line.toString('utf8', 0, end));
  }
}
