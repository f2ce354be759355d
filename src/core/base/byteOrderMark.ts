/** The mark with which some programs begin a text. It is no part of it, and stays where a file is written again. */

const mark = '\uFEFF';

export function withoutMark(text: string): string {
  return text.startsWith(mark) ? text.slice(mark.length) : text;
}

/** Returns the text with the mark if what it takes the place of had one. */
export function markedAs(before: string | undefined, text: string): string {
  return before?.startsWith(mark) ? mark + text : text;
}
