/**
 * Returns the closest candidate to a misspelt name, or undefined if none is close. @param most the
 * most slips
 */
export function nearest(
  found: string,
  candidates: Iterable<string>,
  most?: number,
): string | undefined {
  let best: string | undefined;
  let fewest = Infinity;
  const plain = withoutSeparators(found);
  for (const candidate of candidates) {
    const slips = Math.min(
      distance(found, candidate),
      distance(plain, withoutSeparators(candidate)) + 0.5,
    );
    const allowed = most ?? Math.max(1.5, Math.floor(Math.max(found.length, candidate.length) / 3));
    if (slips <= allowed && slips < fewest) {
      best = candidate;
      fewest = slips;
    }
  }
  return best;
}

export function withoutSeparators(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}

/**
 * Returns the Damerau–Levenshtein distance. It counts insertions, deletions, substitutions and
 * swaps of neighbours.
 */
export function distance(a: string, b: string): number {
  // Long words are never near one another here, and the table grows with the product of their
  // lengths.
  if (Math.abs(a.length - b.length) > 32 || a.length > 128 || b.length > 128) return Infinity;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const exchanged =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (exchanged) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
