/** The lists after the last ticks, as a value that the next window reads, so that patterns come back (E3). */
import { asList, isObject } from '../base/isObject.js';
import type { TickedLists } from './toolLists.js';

type Entry = readonly [server: string, ticked: TickedLists];

const mostServers = 20;
/** Longer lists are not remembered. */
const mostLetters = 20_000;

/** @param stored what `withTicked` returned, in this window or an earlier one */
export function tickedOf(stored: unknown, server: string): TickedLists | undefined {
  return entriesOf(stored).find(([of]) => of === server)?.[1];
}

/** The server that was ticked longest ago is the first to go. */
export function withTicked(stored: unknown, server: string, ticked: TickedLists): readonly Entry[] {
  const others = entriesOf(stored).filter(([of]) => of !== server);
  const entry: Entry = [server, ticked];
  const isKept = ticked.replaced.length > 0 && JSON.stringify(entry).length <= mostLetters;
  return isKept ? [entry, ...others].slice(0, mostServers) : others;
}

function entriesOf(stored: unknown): Entry[] {
  return asList(stored).filter(isEntry);
}

/** Nothing else writes the value, so the parts of an entry are as they were. */
function isEntry(value: unknown): value is Entry {
  const [server, ticked] = asList(value);
  return typeof server === 'string' && isObject(ticked) && Array.isArray(ticked['replaced']);
}
