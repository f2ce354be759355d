/**
 * Turns offsets of a text into the editor's positions, and back. Lines end with LF, CRLF or a lone
 * CR, as in the editor.
 */
import type { Position, Range } from '../base/problem.js';

/** A stretch of a text in UTF-16 code units; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export class TextPositions {
  private readonly starts: number[] = [0];

  constructor(readonly text: string) {
    for (const lineBreak of text.matchAll(/\r\n|\r|\n/g))
      this.starts.push(lineBreak.index + lineBreak[0].length);
  }

  range(span: Span): Range {
    const start = this.position(span.start);
    const end = this.position(span.end);
    const backwards =
      end.line < start.line || (end.line === start.line && end.character < start.character);
    return { start, end: backwards ? start : end };
  }

  offset({ line, character }: Position): number {
    const start = this.starts[line];
    return start === undefined ? this.text.length : Math.min(start + character, this.text.length);
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
    const next = this.starts[low + 1] ?? Infinity;
    const lineBreak = this.text.startsWith('\r\n', next - 2) ? 2 : 1;
    return {
      line: low,
      character: Math.min(wanted, next - lineBreak) - start,
    };
  }
}

export function lineEnd(text: string, offset: number): number {
  let end = offset;
  while (end < text.length && text[end] !== '\n' && text[end] !== '\r') end++;
  return end;
}

/**
 * Returns the beginning of the line below `end`, or an offset beyond the text for the last line.
 */
export function nextLine(text: string, end: number): number {
  return text.startsWith('\r\n', end) ? end + 2 : end + 1;
}
