/**
 * Matches names by patterns (N1) and by whitelist and blacklist (N2). In a pattern, `*` is any substring, even an empty
 * one; every other character is literal, and case counts.
 */
import type { NameFilter } from '../config/model.js';

export interface Pattern {
  readonly text: string;
  matches(name: string): boolean;
}

/**
 * Finds the literal parts one after the other, each at its first place. It never goes back, as a regular expression would
 * (and every library of globs makes one): patterns come from files and names from servers, and with a few wildcards a
 * long name would take hours (S2).
 */
export function compilePattern(text: string): Pattern {
  if (!text.includes('*')) return { text, matches: (name) => name === text };
  const parts = text.split(/\*+/);
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  const inner = parts.slice(1, -1);
  const shortest = parts.reduce((sum, part) => sum + part.length, 0);
  const matches = (name: string): boolean => {
    if (name.length < shortest || !name.startsWith(first) || !name.endsWith(last)) return false;
    const end = name.length - last.length;
    let at = first.length;
    for (const part of inner) {
      const found = name.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= end;
  };
  return { text, matches };
}

/** Says what the lists of N2 make of an original name. */
type FilterVerdict =
  | { readonly kind: 'in' }
  | { readonly kind: 'blacklisted'; readonly pattern: string }
  | { readonly kind: 'notWhitelisted' };

/** A pattern of a list, and where it stands there. */
export interface ListedPattern extends Pattern {
  readonly index: number;
}

export interface CompiledFilter {
  readonly whitelist: readonly ListedPattern[];
  readonly blacklist: readonly ListedPattern[];
}

/** Blank patterns are none (N1). */
export function compileFilter(filter: NameFilter): CompiledFilter {
  const compiled = (list: readonly string[]): ListedPattern[] =>
    list.flatMap((text, index) => (text.trim() === '' ? [] : [{ ...compilePattern(text), index }]));
  return { whitelist: compiled(filter.whitelist), blacklist: compiled(filter.blacklist) };
}

/** Each name is matched against each pattern: so many characters of names, patterns counted, take a part of a second. */
const mostMatched = 20_000_000;
/** A pattern that fails at the first character takes as long as so many. */
const leastForName = 20;

/** Says whether names and patterns are so many and so long together that matching them would hold up everything (S2). */
export function isTooMuchToMatch({ whitelist, blacklist }: CompiledFilter, names: readonly string[]): boolean {
  const characters = names.reduce((sum, name) => sum + name.length + leastForName, 0);
  return characters * (whitelist.length + blacklist.length) > mostMatched;
}

export function judge(filter: CompiledFilter, name: string): FilterVerdict {
  const whitelisted = filter.whitelist.some((pattern) => pattern.matches(name));
  if (filter.blacklist.length === 0) {
    return whitelisted || filter.whitelist.length === 0 ? { kind: 'in' } : { kind: 'notWhitelisted' };
  }
  if (whitelisted) return { kind: 'in' };
  const hit = filter.blacklist.find((pattern) => pattern.matches(name));
  return hit ? { kind: 'blacklisted', pattern: hit.text } : { kind: 'in' };
}
