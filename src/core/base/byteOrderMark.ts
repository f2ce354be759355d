/**
 * The mark at the beginning of some programs' texts. It does not belong to the text, and stays when a file is written
 * again.
 */

const mark = '\uFEFF';

export function withoutMark(text: string): string {
  return text.startsWith(mark) ? text.slice(mark.length) : text;
}

/** Returns the text with the mark if the former text had one. */
export function markedAs(before: string | undefined, text: string): string {
  return before?.startsWith(mark) ? mark + text : text;
}
