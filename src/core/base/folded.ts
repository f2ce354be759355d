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
  let text = lead;
  let used = lead.length;
  for (const [at, character] of [...line].entries()) {
    const columns = columnsOf(character);
    if (used + columns > width && at > 0) {
      lines.push(text);
      text = mark;
      used = mark.length;
    }
    text += character;
    used += columns;
  }
  return [...lines, text];
}

/** A non-ASCII character may be two columns wide, and a tab eight. */
function columnsOf(character: string): number {
  return character === '\t' ? 8 : character >= ' ' && character <= '~' ? 1 : 2;
}
