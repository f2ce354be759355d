/**
 * Marks the difference between two texts of a review, because a terminal shows only one. Pure. Each
 * line begins with a mark of ours, so foreign text cannot pass for a mark.
 */
import type { Review } from '../core/approval/approvalTexts.js';

/** More pairs of lines would take seconds. Of longer texts, only equal beginnings are found. */
const mostPairs = 4_000_000;

/** `- ` marks a line that was there before, and `+ ` a new one. */
export function markedReview({ now, before }: Review): string {
  if (before === undefined) return now;
  const old = before.split('\n');
  const fresh = now.split('\n');
  const width = fresh.length + 1;
  const pairs = old.length * width;
  // Counts the common lines of the rests that begin at a pair of lines.
  const counts = new Uint16Array(pairs > mostPairs ? 0 : pairs + width);
  const count = (at: number): number => counts[at] ?? 0;
  for (let at = counts.length - width - 1; at >= 0; at--) {
    const other = fresh[at % width];
    if (other === undefined) continue;
    const isEqual = old[Math.floor(at / width)] === other;
    counts[at] = isEqual ? count(at + width + 1) + 1 : Math.max(count(at + width), count(at + 1));
  }
  const lines: string[] = [];
  let from = 0;
  let to = 0;
  while (from < old.length || to < fresh.length) {
    const at = from * width + to;
    const isGone = from < old.length && (to === fresh.length || count(at + width) >= count(at + 1));
    const changed = isGone ? '-' : '+';
    const mark = old[from] === fresh[to] ? ' ' : changed;
    lines.push(`${mark} ${mark === '+' ? fresh[to] : old[from]}`);
    if (mark !== '+') from++;
    if (mark !== '-') to++;
  }
  return lines.join('\n');
}
