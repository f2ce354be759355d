/**
 * The mark at the beginning of some programs' texts does not belong to the text, and stays when a
 * file is written again.
 */

const mark = '\uFEFF';

export function withoutMark(text: string): string {
  return text.startsWith(mark) ? text.slice(mark.length) : text;
}

export function markedAs(before: string | undefined, text: string): string {
  return before?.startsWith(mark) ? mark + text : text;
}
