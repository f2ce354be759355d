/** Finds many values in a text in one linear pass (Aho and Corasick), also a value cut short by a mark. */

/** A longer value is found by its beginning, and the rest is compared. */
const longestIndexed = 1024;
const ellipsis = 0x2026;

interface Span {
  start: number;
  end: number;
}

export class KnownSecrets {
  /** `node * 65536 + code unit` to the next node. */
  private readonly next = new Map<number, number>();
  private readonly fallback: number[] = [0];
  private readonly depth: number[] = [0];
  /** The length of the longest value with its end at this node, or 0. */
  private readonly longest: number[] = [0];
  /** The rests of long values, and the node of the last such beginning at each node. */
  private readonly rests = new Map<number, string[]>();
  private readonly longEnd: number[] = [0];
  private readonly isFirst = new Uint8Array(0x10000);

  /** @param shortest the least visible part of a cut value */
  constructor(
    values: Iterable<string>,
    private readonly shortest: number,
  ) {
    const edges: { readonly from: number; readonly code: number; readonly to: number }[] = [];
    for (const value of values) {
      let node = 0;
      const length = Math.min(value.length, longestIndexed);
      for (let at = 0; at < length; at++) {
        const code = value.charCodeAt(at);
        let to = this.next.get(node * 0x10000 + code);
        if (to === undefined) {
          to = this.depth.length;
          this.next.set(node * 0x10000 + code, to);
          this.depth.push(at + 1);
          this.longest.push(0);
          this.fallback.push(0);
          this.longEnd.push(0);
          edges.push({ from: node, code, to });
        }
        node = to;
      }
      if (node === 0) continue;
      this.isFirst[value.charCodeAt(0)] = 1;
      this.longest[node] = length;
      if (value.length > length) this.rests.set(node, [...(this.rests.get(node) ?? []), value.slice(length)]);
    }
    edges.sort((a, b) => (this.depth[a.to] ?? 0) - (this.depth[b.to] ?? 0));
    for (const { from, code, to } of edges) {
      const fallback = from === 0 ? 0 : this.step(this.fallback[from] ?? 0, code);
      this.fallback[to] = fallback;
      if (this.longest[to] === 0) this.longest[to] = this.longest[fallback] ?? 0;
      this.longEnd[to] = this.rests.has(to) ? to : (this.longEnd[fallback] ?? 0);
    }
  }

  masked(text: string, mask: string): string {
    const spans = this.spans(text);
    if (spans.length === 0) return text;
    let result = '';
    let at = 0;
    for (const { start, end } of spans) {
      const from = Math.max(at, escapeAround(text, start)?.start ?? start);
      result += text.slice(at, from) + mask;
      at = Math.max(end, escapeAround(text, end)?.end ?? end);
    }
    return result + text.slice(at);
  }

  private step(from: number, code: number): number {
    for (let node = from; ; node = this.fallback[node] ?? 0) {
      const to = this.next.get(node * 0x10000 + code);
      if (to !== undefined) return to;
      if (node === 0) return 0;
    }
  }

  private spans(text: string): Span[] {
    const found: Span[] = [];
    const add = (start: number, end: number): void => {
      let first = start;
      for (let last = found.at(-1); last && last.end > first; last = found.at(-1)) {
        first = Math.min(first, last.start);
        end = Math.max(end, last.end);
        found.pop();
      }
      found.push({ start: first, end });
    };
    let node = 0;
    /** The rests of long values have already been compared up to here. */
    let compared = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (node === 0 && this.isFirst[code] === 0) continue;
      if (code === ellipsis && (this.depth[node] ?? 0) >= this.shortest) add(at - (this.depth[node] ?? 0), at);
      node = this.step(node, code);
      const length = this.longest[node] ?? 0;
      if (length === 0) continue;
      const end = at + 1;
      add(end - length, end);
      if (end < compared) continue;
      for (const rest of this.rests.get(this.longEnd[node] ?? 0) ?? []) {
        const same = sameLength(rest, text, end);
        add(end - longestIndexed, end + same);
        compared = Math.max(compared, end + same);
      }
    }
    return found;
  }
}

function sameLength(rest: string, text: string, from: number): number {
  let length = 0;
  while (length < rest.length && rest.charCodeAt(length) === text.charCodeAt(from + length)) length++;
  return length;
}

/** Returns the JSON escape (`\n`, `\u00e9`) around a place, because half of one must not remain. */
function escapeAround(text: string, at: number): Span | undefined {
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
