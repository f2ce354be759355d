/**
 * Completes and checks the arguments of calls by the overrides of the file (O2, O3). Every road to a server passes
 * here, so all send the same.
 */
import { quoted } from '../base/inert.js';
import { clipped, shortList } from '../base/text.js';
import type { AppliedOverride } from './catalogue.js';
import { isTooMuchToMatch, type Pattern } from './patterns.js';

type Arguments = Readonly<Record<string, unknown>>;

export type Completed =
  | { readonly kind: 'completed'; readonly arguments: Arguments | undefined }
  /** `message` is a sentence with the argument, its value and what is allowed. */
  | { readonly kind: 'refused'; readonly message: string };

export function completed({ rules }: AppliedOverride, given: Arguments | undefined): Completed {
  if (rules.length === 0) return { kind: 'completed', arguments: given };
  const sent = new Map(Object.entries(given ?? {}));
  for (const { name, fixed, default: byDefault, allow } of rules) {
    if (fixed) sent.set(name, fixed.value);
    else if (byDefault && sent.get(name) === undefined) sent.set(name, byDefault.value);
    const value = sent.get(name);
    if (!allow || value === undefined || isAllowed(value, allow)) continue;
    const patterns = shortList(
      allow.map(({ text }) => quoted(text)),
      20,
    );
    return { kind: 'refused', message: `The argument "${name}" may not be ${inBrief(value)}. Allowed: ${patterns}.` };
  }
  return { kind: 'completed', arguments: Object.fromEntries(sent) };
}

/** True for a text, or a list of texts, that match a pattern. */
export function isAllowed(value: unknown, allow: readonly Pattern[]): boolean {
  const texts = Array.isArray(value) ? (value as unknown[]) : [value];
  if (!texts.every((text) => typeof text === 'string')) return false;
  if (isTooMuchToMatch(allow, texts)) return false;
  return texts.every((text) => allow.some((pattern) => pattern.matches(text)));
}

export function inBrief(value: unknown): string {
  return clipped(JSON.stringify(value), 100);
}
