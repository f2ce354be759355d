/** Positions of an editor as offsets of a text: the way back from `textPositions`. Lines end where the editor ends them. */
import type { Position } from '../base/problem.js';

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
