/**
 * Canonical hashes (R2). The order of lists counts. A literal and a host variable with the same
 * value are equal.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/canonicalJson.js';
import type { ServerDefinition, ToolOverrides } from './model.js';

/** The parts of a definition that need no restart. */
export type ServerView = Pick<
  ServerDefinition,
  | 'tools'
  | 'transform'
  | 'overrides'
  | 'prompts'
  | 'resources'
  | 'manual'
  | 'timeouts'
  | 'start'
  | 'spare'
>;

export function viewHashOf(view: ServerView): string {
  return digest({ ...view, overrides: view.overrides && plainOverrides(view.overrides) });
}

export function plainOverrides(overrides: ToolOverrides): object {
  return named(overrides, (override) => ({ ...override, arguments: named(override.arguments) }));
}

/** Returns an object in which no name can be `__proto__`. */
export function named<T>(
  values: ReadonlyMap<string, T> = new Map(),
  plain: (value: T) => unknown = (value) => value,
): object {
  return Object.fromEntries([...values].map(([name, value]) => [`=${name}`, plain(value)]));
}

export function digest(value: object): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
