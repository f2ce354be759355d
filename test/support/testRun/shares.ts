/** Divides files or editor windows among lanes, so that the lanes take about equally long. */

/** "2/3": the second of three shares. */
export interface Share {
  /** From 1. */
  readonly index: number;
  readonly of: number;
}

export const wholeShare: Share = { index: 1, of: 1 };

export function readShare(text: string): Share {
  const [index = NaN, of = NaN] = text.split('/').map(Number);
  if (!(Number.isInteger(index) && Number.isInteger(of) && index >= 1 && index <= of))
    throw new Error(`A share is written as 1/2, and not ${text}`);
  return { index, of };
}

export const writtenShare = ({ index, of }: Share): string => `${index}/${of}`;

/** The items of a share, in their order. Each item belongs to exactly one of the shares. */
export function inShare<Item>(
  items: readonly Item[],
  weightOf: (item: Item) => number,
  { index, of }: Share,
): Item[] {
  const taken = Array.from({ length: of }, () => 0);
  const mine = new Set<Item>();
  const longestFirst = [...items].sort((a, b) => weightOf(b) - weightOf(a));
  for (const item of longestFirst) {
    const shortest = taken.indexOf(Math.min(...taken));
    taken[shortest] = (taken[shortest] ?? 0) + weightOf(item);
    if (shortest === index - 1) mine.add(item);
  }
  return items.filter((item) => mine.has(item));
}
