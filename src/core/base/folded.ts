/**
 * In columns, so every word is in sight (S1a). The editor does not report its width. From 900 points on it compares in
 * two halves of 42 columns, and a page between both side bars of a window of 1440 points has 64.
 */
export const halfWidth = 42;
export const pageWidth = 64;

/** Only a continued line begins so: every other line of a folded text begins with a lead of ours. */
const continued = '  … ';

/** @param lead goes in front of the line @param mark goes in front of each continuation */
export function folded(line: string, width: number, lead = '', mark = continued): string[] {
  const lines: string[] = [];
  let [head, start, used] = [lead, 0, lead.length];
  for (let at = 0; at < line.length;) {
    const unit = line.charCodeAt(at);
    // A character of two units is never cut.
    const isPair = (unit & 0xfc00) === 0xd800 && (line.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    const columns = columnsOf(unit);
    if (used + columns > width && at > 0) {
      lines.push(head + line.slice(start, at));
      [head, start, used] = [mark, at, mark.length];
    }
    used += columns;
    at += isPair ? 2 : 1;
  }
  return [...lines, head + line.slice(start)];
}

/** A non-ASCII character may be two columns wide, and a tab eight. */
function columnsOf(unit: number): number {
  return unit === 9 ? 8 : unit >= 0x20 && unit <= 0x7e ? 1 : 2;
}
