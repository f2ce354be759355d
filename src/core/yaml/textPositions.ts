/**
 * Offsets of a text as the positions an editor shows. Lines end where the editor ends them (LF, CRLF, lone CR).
 *
 * Invariant: a position never lies outside the text nor inside a line break, whatever the offset.
 */
import type { Position, Range } from '../base/problem.js';

/** A stretch of a text; `end` is exclusive. In UTF-16 code units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export class TextPositions {
  private readonly starts: number[] = [0];

  constructor(readonly text: string) {
    for (const lineBreak of text.matchAll(/\r\n|\r|\n/g)) this.starts.push(lineBreak.index + lineBreak[0].length);
  }

  range(span: Span): Range {
    const start = this.position(span.start);
    const end = this.position(span.end);
    const backwards = end.line < start.line || (end.line === start.line && end.character < start.character);
    return { start, end: backwards ? start : end };
  }

  private position(offset: number): Position {
    const wanted = Math.min(Math.max(0, offset), this.text.length);
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.starts[middle] ?? 0) <= wanted) low = middle;
      else high = middle - 1;
    }
    const start = this.starts[low] ?? 0;
    return { line: low, character: Math.min(wanted, this.contentEnd(low)) - start };
  }

  private contentEnd(line: number): number {
    const next = this.starts[line + 1];
    if (next === undefined) return this.text.length;
    return this.text.startsWith('\r\n', next - 2) ? next - 2 : next - 1;
  }
}

/** Positions of an editor as offsets of a text: the way back from `textPositions`. Lines end where the editor ends them. */

export class TextOffsets {
  private readonly starts: number[] = [0];

  constructor(private readonly text: string) {
    for (const lineBreak of text.matchAll(/\r\n|\r|\n/g)) this.starts.push(lineBreak.index + lineBreak[0].length);
  }

  /** Within the text, whatever the position. */
  offset({ line, character }: Position): number {
    const start = this.starts[line];
    return start === undefined ? this.text.length : Math.min(start + character, this.text.length);
  }
}
