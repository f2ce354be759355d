/**
 * Matches names by patterns (N1) and by whitelist and blacklist (N2). In a pattern, `*` is any substring, even an empty
 * one; every other character is literal, and case counts. minimatch does the matching, and whatever else it would
 * understand is made literal first.
 */
import { Minimatch } from 'minimatch';
import type { NameFilter } from '../config/model.js';

export interface Pattern {
  readonly text: string;
  matches(name: string): boolean;
}

/** These characters mean something in a path (separators, escapes, `.` and `..`) and nothing in a tool's name. */
const standIns: Readonly<Record<string, string>> = { '/': '\uE000', '\\': '\uE001', '.': '\uE002' };

function withoutPathCharacters(text: string): string {
  return text.replace(/[/\\.]/g, (character) => standIns[character] ?? character);
}

export function compilePattern(text: string): Pattern {
  if (!text.includes('*')) return { text, matches: (name) => name === text };
  const glob = withoutPathCharacters(text)
    .replace(/\*+/g, '*')
    .replace(/[?[\]]/g, '[$&]');
  const matcher = new Minimatch(glob, {
    dot: true,
    nobrace: true,
    nocomment: true,
    noext: true,
    noglobstar: true,
    nonegate: true,
    platform: 'linux',
  });
  const everything = glob === '*';
  return { text, matches: (name) => everything || matcher.match(withoutPathCharacters(name)) };
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

export function judge(filter: CompiledFilter, name: string): FilterVerdict {
  const whitelisted = filter.whitelist.some((pattern) => pattern.matches(name));
  if (filter.blacklist.length === 0) {
    return whitelisted || filter.whitelist.length === 0 ? { kind: 'in' } : { kind: 'notWhitelisted' };
  }
  if (whitelisted) return { kind: 'in' };
  const hit = filter.blacklist.find((pattern) => pattern.matches(name));
  return hit ? { kind: 'blacklisted', pattern: hit.text } : { kind: 'in' };
}
