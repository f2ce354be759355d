/**
 * Matches names by patterns (N1) and by whitelist and blacklist (N2). The work is bounded before it
 * begins (N4a).
 */
import { escape, Minimatch } from 'minimatch';
import type { Sliced } from '../base/turns.js';
import type { NameFilter } from '../config/model.js';

export interface Pattern {
  readonly text: string;
  steps(lengths: NameLengths): number;
  /** The length of the longest name to match. A longer one would take too long (S2). */
  readonly longest: number;
  matches(name: string): boolean;
}

type NameLengths = {
  readonly longest: number;
  readonly total: number;
  readonly count: number;
};

/** Minimatch takes 17 to 27 ns for a step, so one name takes less than 30 ms. */
const mostForName = 1_000_000;
const mostForList = 20_000_000;
/** For lists that are matched without a pause. */
const mostAtOnce = 500_000;
const stepsForMatch = 20;
const stepsToCompile = { character: 50, pattern: 300 };

const options = {
  dot: true,
  nobrace: true,
  nocomment: true,
  noext: true,
  nonegate: true,
  platform: 'linux',
} as const;

/**
 * `*` stops at `/`, and no text has `\uffff`. The `=` keeps minimatch from reading a path into an
 * empty text, `.` or `..`.
 */
const portion = (text: string): string => `=${text.replaceAll('/', '\uffff')}`;

export function compilePattern(text: string): Pattern {
  if (!text.includes('*'))
    return {
      text,
      steps: ({ count }) => count,
      longest: Infinity,
      matches: (name) => name === text,
    };
  // Minimatch is slow to compile runs of `*`, and takes some for a globstar.
  const parts = text.split(/\*+/);
  const shortest = parts.reduce((sum, part) => sum + part.length, 0);
  // After each `*`, minimatch tries the following part at every place, but never goes back behind
  // an earlier one.
  const longestPart = parts.slice(1, -1).reduce((most, part) => Math.max(most, part.length), 1);
  const compiling = stepsToCompile.pattern + stepsToCompile.character * (shortest + parts.length);
  const steps = ({ longest, total, count }: NameLengths) =>
    longest < shortest ? count : compiling + (total + count * stepsForMatch) * longestPart;
  const mostLength = (mostForName - compiling) / longestPart - stepsForMatch;
  let compiled: Minimatch | undefined;
  const matches = (name: string) => {
    if (name.length < shortest || name.length > mostLength) return false;
    compiled ??= new Minimatch(portion(parts.map((part) => escape(part)).join('*')), options);
    return compiled.match(portion(name));
  };
  return {
    text,
    steps,
    longest: mostLength,
    matches,
  };
}

export type ListedPattern = Pattern & { readonly index: number };

export interface CompiledFilter {
  readonly whitelist: readonly ListedPattern[];
  readonly blacklist: readonly ListedPattern[];
}

/** Blank patterns count as no patterns (N1). */
export function compileFilter(filter: NameFilter): CompiledFilter {
  const compiled = (list: readonly string[]): ListedPattern[] =>
    list.flatMap((text, index) => (text.trim() === '' ? [] : [{ ...compilePattern(text), index }]));
  return { whitelist: compiled(filter.whitelist), blacklist: compiled(filter.blacklist) };
}

export function stepsToMatch(patterns: readonly Pattern[], names: readonly string[]): number {
  const longest = names.reduce((most, name) => Math.max(most, name.length), 0);
  const total = names.reduce((sum, name) => sum + name.length, 0);
  const lengths = {
    longest,
    total,
    count: names.length,
  };
  return patterns.reduce((steps, pattern) => steps + pattern.steps(lengths), 0);
}

export function isTooMuchToMatch(patterns: readonly Pattern[], names: readonly string[]): boolean {
  const longest = names.reduce((most, name) => (name.length > most.length ? name : most), '');
  return (
    stepsToMatch(patterns, [longest]) > mostForName || stepsToMatch(patterns, names) > mostForList
  );
}

/** Returns the names that a filter lets pass; undefined if it would take too long to say. */
export function namesIn(filter: NameFilter, names: readonly string[]): Set<string> | undefined {
  const compiled = compileFilter(filter);
  if (stepsToMatch(patternsOf(compiled), names) > mostAtOnce) return undefined;
  return new Set(names.filter((name) => judge(compiled, name).kind === 'in'));
}

export function patternsOf({ whitelist, blacklist }: CompiledFilter): readonly ListedPattern[] {
  return [...whitelist, ...blacklist];
}

export type FilterVerdict =
  | { readonly kind: 'in' | 'notWhitelisted' }
  | { readonly kind: 'blacklisted'; readonly pattern: string };

export function judge(filter: CompiledFilter, name: string): FilterVerdict {
  const rescuer = filter.whitelist.find((pattern) => pattern.matches(name));
  return verdict(
    filter,
    rescuer,
    rescuer ? undefined : filter.blacklist.find((pattern) => pattern.matches(name)),
  );
}

function verdict(
  { whitelist, blacklist }: CompiledFilter,
  rescuer?: Pattern,
  hit?: Pattern,
): FilterVerdict {
  if (rescuer) return { kind: 'in' };
  if (hit) return { kind: 'blacklisted', pattern: hit.text };
  return { kind: whitelist.length > 0 && blacklist.length === 0 ? 'notWhitelisted' : 'in' };
}

export type IdlePattern = {
  readonly list: 'whitelist' | 'blacklist';
  readonly pattern: ListedPattern;
} & (
  | { readonly kind: 'matchesNothing' }
  | {
      readonly kind: 'overruled';
      readonly matched: readonly string[];
      readonly by: readonly ListedPattern[];
    }
);

/** If only names overrule a pattern, it still keeps out later tools. Ticks write such lists. */
function isOverruled({ text }: Pattern, whitelist: readonly Pattern[]): boolean {
  return whitelist.some((one) => one.text.includes('*') || !text.includes('*'));
}

type Sifted = {
  readonly verdicts: ReadonlyMap<string, FilterVerdict>;
  readonly idle: readonly IdlePattern[];
};

/**
 * Most edits of the file leave the lists of a server as they are, and are applied in one step (R2).
 */
const earlier = new WeakMap<object, { readonly lists: string; readonly sifted: Sifted }>();

/**
 * Judges names, and finds the patterns without effect. @param listed the list with the names, to
 * keep the result with it
 */
export function* sift(
  filter: CompiledFilter,
  names: readonly string[],
  listed: object,
): Sliced<Sifted> {
  const lists = JSON.stringify([filter.whitelist, filter.blacklist]);
  const kept = earlier.get(listed);
  if (kept?.lists === lists) return kept.sifted;
  const verdicts = new Map<string, FilterVerdict>();
  const matching = new Set<ListedPattern>();
  const effective = new Set<ListedPattern>();
  const overruled = new Map<ListedPattern, { matched: string[]; by: Set<ListedPattern> }>();
  for (const name of names) {
    yield;
    const white = filter.whitelist.filter((pattern) => pattern.matches(name));
    const black = filter.blacklist.filter((pattern) => pattern.matches(name));
    verdicts.set(name, verdict(filter, white[0], black[0]));
    for (const pattern of [...white, ...black]) matching.add(pattern);
    for (const pattern of black) {
      if (!isOverruled(pattern, white)) effective.add(pattern);
      if (!white[0] || effective.has(pattern)) continue;
      const { matched, by } = overruled.get(pattern) ?? { matched: [], by: new Set() };
      overruled.set(pattern, { matched, by: by.add(white[0]) });
      matched.push(name);
    }
  }
  const idle: IdlePattern[] = [];
  for (const list of ['whitelist', 'blacklist'] as const) {
    for (const pattern of filter[list]) {
      const { matched, by } = overruled.get(pattern) ?? {};
      if (!matching.has(pattern))
        idle.push({
          kind: 'matchesNothing',
          list,
          pattern,
        });
      else if (matched && by && !effective.has(pattern)) {
        idle.push({
          kind: 'overruled',
          list,
          pattern,
          matched,
          by: [...by],
        });
      }
    }
  }
  const sifted = { verdicts, idle };
  earlier.set(listed, { lists, sifted });
  return sifted;
}
