/**
 * Folds text that a person reads before they decide, so that no word of it is beyond the edge (S1a).
 *
 * The editor does not say how wide it is. From 900 points on it shows a comparison in two halves, and half of that has 42
 * columns in sight in its usual font. A page between both side bars of a window of 1440 points has 64.
 */
export const halfWidth = 42;
export const pageWidth = 64;

/** Only a continued line begins so: every other line of a folded text begins with a lead of ours. */
const continued = '  … ';

/**
 * Breaks one line into lines of at most `width` columns.
 * @param lead stands in front of the line
 * @param mark stands in front of each line that continues it
 */
export function folded(line: string, width: number, lead = '', mark = continued): string[] {
  const lines: string[] = [];
  let text = lead;
  let used = lead.length;
  let isEmpty = true;
  for (const character of line) {
    const columns = columnsOf(character);
    if (used + columns > width && !isEmpty) {
      lines.push(text);
      text = mark;
      used = mark.length;
    }
    text += character;
    used += columns;
    isEmpty = false;
  }
  return [...lines, text];
}

/** A character that is not ASCII may be two columns wide, and a tab eight. */
function columnsOf(character: string): number {
  return character === '\t' ? 8 : character >= ' ' && character <= '~' ? 1 : 2;
}
