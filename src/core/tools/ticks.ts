/**
 * Finds the lists for agents to see exactly the ticked tools (N2). They continue to keep out, or
 * let in, future tools.
 */
import { isDeepStrictEqual } from 'node:util';
import type { NameFilter } from '../config/model.js';
import { compileFilter, compilePattern, judge } from './patterns.js';

/**
 * @param names the original names of all listed tools @param ticks the changes, by original name
 */
export function withTicks(
  filter: NameFilter,
  names: readonly string[],
  ticks: ReadonlyMap<string, boolean>,
): NameFilter {
  // Ticked tools come first, so no list becomes empty on the way.
  const ordered = [...ticks].sort(([, one], [, other]) => Number(other) - Number(one));
  return ordered.reduce((now, [name, ticked]) => {
    const isIn = judge(compileFilter(now), name).kind === 'in';
    if (isIn === ticked) return now;
    if (ticked) return withTool(now, name);
    return withoutTool(now, names, name);
  }, filter);
}

/** A pattern that left the whitelist, with the lists that had it. */
export interface ReplacedPattern {
  readonly pattern: string;
  readonly before: NameFilter;
}

/** Brings back the patterns whose tools are all ticked again. */
export function withPatterns(
  filter: NameFilter,
  names: readonly string[],
  replaced: readonly ReplacedPattern[],
): NameFilter {
  const published = (lists: NameFilter): string[] => {
    const compiled = compileFilter(lists);
    return names.filter((name) => judge(compiled, name).kind === 'in');
  };
  const ticked = published(filter);
  const whole = replaced.find(({ before }) => isDeepStrictEqual(published(before), ticked));
  if (whole) return whole.before;
  return replaced.reduce((now, { pattern, before: { whitelist } }) => {
    const own = names.filter(compilePattern(pattern).matches);
    if (own.length === 0 || own.some((name) => !now.whitelist.includes(name))) return now;
    const rest = now.whitelist.filter((one) => !own.includes(one) || whitelist.includes(one));
    const earlier = whitelist.slice(0, whitelist.indexOf(pattern));
    const previous = earlier.findLast((one) => rest.includes(one)) ?? '';
    const at = rest.indexOf(previous) + 1;
    return {
      ...now,
      whitelist: rest.toSpliced(at, 0, pattern),
    };
  }, filter);
}

function withTool({ whitelist, blacklist }: NameFilter, name: string): NameFilter {
  const left = blacklist.filter((text) => text !== name);
  const rest = compileFilter({ whitelist, blacklist: left }).blacklist;
  if (left.length === blacklist.length || rest.some((pattern) => pattern.matches(name))) {
    return { whitelist: [...whitelist, name], blacklist: left };
  }
  // A whitelist without a blacklist would keep out the tools in neither list.
  return { whitelist: rest.length === 0 ? [] : whitelist, blacklist: left };
}

function withoutTool(filter: NameFilter, names: readonly string[], name: string): NameFilter {
  const { whitelist, blacklist } = filter;
  const isBlacklisted = anyOf(blacklist);
  const removed = whitelist.filter((text) => compilePattern(text).matches(name));
  const hasBlacklist = compileFilter(filter).blacklist.length > 0;
  if (removed.length === 0) {
    return { whitelist, blacklist: [...blacklist, name] };
  }
  if (!hasBlacklist && removed.some((text) => /^\*+$/.test(text))) {
    return { whitelist: [], blacklist: [name] };
  }
  const kept = whitelist.filter((text) => !removed.includes(text));
  // The whitelist wins, so its patterns take no exceptions. The other tools of a removed pattern
  // are written instead, unless their names would be patterns.
  const isRemoved = anyOf(removed);
  const isKept = anyOf(kept);
  const isLost = (one: string) =>
    isRemoved(one) && !isKept(one) && (!hasBlacklist || isBlacklisted(one));
  const others = [...new Set(names)].filter(
    (one) => one !== name && !one.includes('*') && isLost(one),
  );
  const next = { whitelist: [...kept, ...others], blacklist };
  if (hasBlacklist) {
    if (isBlacklisted(name)) return next;
    return { ...next, blacklist: [...blacklist, name] };
  }
  const hasWhitelist = compileFilter(next).whitelist.length > 0;
  if (hasWhitelist) return next;
  return { ...next, blacklist: [...blacklist, '*'] };
}

function anyOf(list: readonly string[]): (name: string) => boolean {
  const patterns = list.map(compilePattern);
  return (name) => patterns.some((pattern) => pattern.matches(name));
}
