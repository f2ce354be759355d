/** Whitelist and blacklist of spec N2, over original names. Pure. */
import type { NameFilter } from '../config/model.js';
import { compilePattern, type Pattern } from './patterns.js';

export type FilterVerdict =
  | { readonly kind: 'in' }
  | { readonly kind: 'blacklisted'; readonly pattern: string }
  | { readonly kind: 'notWhitelisted' };

export interface CompiledFilter {
  readonly whitelist: readonly Pattern[];
  readonly blacklist: readonly Pattern[];
}

export function compileFilter(filter: NameFilter): CompiledFilter {
  return { whitelist: filter.whitelist.map(compilePattern), blacklist: filter.blacklist.map(compilePattern) };
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
