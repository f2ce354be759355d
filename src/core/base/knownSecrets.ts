/** Finds known values in a text, also a value cut short by an ellipsis. */
import { groupedBy } from './groupedBy.js';
import { inReadings, united, type Span } from './readings.js';
import { escapeRegExp } from './text.js';

/** A longer value is found by its head, and hidden as far as the text has it. */
const longestHead = 64;

export class KnownSecrets {
  private readonly byBeginning: ReadonlyMap<string, readonly string[]>;
  private readonly beginnings: RegExp;

  /** @param shortest the least visible part of a cut value; each value has at least this length */
  constructor(
    values: readonly string[],
    private readonly shortest: number,
  ) {
    this.byBeginning = groupedBy(values, (value) => value.slice(0, shortest));
    const beginnings = [...this.byBeginning.keys()].map(escapeRegExp).join('|');
    // A look-ahead, because values may overlap.
    this.beginnings = new RegExp(`(?=(${beginnings}))`, 'g');
  }

  masked(text: string, mask: string): string {
    let result = '';
    let from = 0;
    for (const { start, end } of inReadings(text, (reading) => this.find(reading))) {
      result += text.slice(from, start) + mask;
      from = end;
    }
    return result + text.slice(from);
  }

  private find(text: string): Span[] {
    const found: Span[] = [];
    let hidden = 0;
    /** The next one; `NaN` without one. */
    let ellipsis = -1;
    for (const { index: at, 1: beginning = '' } of text.matchAll(this.beginnings)) {
      if (ellipsis < at) ellipsis = text.indexOf('…', at);
      if (ellipsis < 0) ellipsis = NaN;
      const compared = hidden;
      for (const value of this.byBeginning.get(beginning) ?? []) {
        const end = this.endOf(value, text, at, ellipsis, compared);
        if (end <= hidden) continue;
        hidden = escapeAround(text, end)?.end ?? end;
        found.push({ start: escapeAround(text, at)?.start ?? at, end: hidden });
      }
    }
    return united(found);
  }

  /** Returns the end of the value at this place; 0 if another text is there. */
  private endOf(
    value: string,
    text: string,
    at: number,
    ellipsis: number,
    compared: number,
  ): number {
    const head = value.slice(0, longestHead);
    if (!text.startsWith(head, at)) {
      const isCut = ellipsis - at >= this.shortest && value.startsWith(text.slice(at, ellipsis));
      return isCut ? ellipsis : 0;
    }
    let end = at + head.length;
    if (end < compared) return end;
    while (end - at < value.length && text.charCodeAt(end) === value.charCodeAt(end - at)) end++;
    return end;
  }
}

/** Returns the JSON escape (`\n`, `\u00e9`) around a place, because half of one must not remain. */
function escapeAround(
  text: string,
  at: number,
): { readonly start: number; readonly end: number } | undefined {
  for (let slash = at - 1; slash >= 0 && slash >= at - 5; slash--) {
    if (text.charCodeAt(slash) !== 0x5c) continue;
    let first = slash;
    while (first > 0 && text.charCodeAt(first - 1) === 0x5c) first--;
    if ((slash - first) % 2 !== 0) return undefined;
    const end = slash + (text.charAt(slash + 1) === 'u' ? 6 : 2);
    return at < end ? { start: slash, end: Math.min(end, text.length) } : undefined;
  }
  return undefined;
}
