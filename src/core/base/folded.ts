/**
 * In columns, so every word is in sight (S1f). The editor does not report its width. From 900
 * points on it compares in two halves of 42 columns, and a page between both side bars of a window
 * of 1440 points has 64.
 */
export const halfWidth = 42;
export const pageWidth = 64;

/**
 * Only a continued line begins so: every other line of a folded text begins with a lead of ours.
 */
const continued = '  … ';

/** @param lead goes in front of the line @param mark goes in front of each continuation */
export function folded(line: string, width: number, lead = '', mark = continued): string[] {
  const lines: string[] = [];
  let head = lead;
  let start = 0;
  let used = columnsIn(lead);
  for (let at = 0; at < line.length;) {
    const code = line.codePointAt(at) ?? 0;
    const columns = columnsOf(code);
    if (used + columns > width && at > 0) {
      lines.push(head + line.slice(start, at));
      head = mark;
      start = at;
      used = mark.length;
    }
    used += columns;
    at += code > 0xffff ? 2 : 1;
  }
  return [...lines, head + line.slice(start)];
}

/** Returns the columns of a text. */
export function columnsIn(text: string): number {
  return [...text].reduce((sum, one) => sum + columnsOf(one.codePointAt(0) ?? 0), 0);
}

/** A non-ASCII character may be two columns wide, and a tab eight. */
function columnsOf(code: number): number {
  return code === 9 ? 8 : code >= 0x20 && code <= 0x7e ? 1 : 2;
}
