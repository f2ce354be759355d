/**
 * Canonical hashes (R2). The order of lists counts. A literal and a host variable with the same
 * value are equal.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/canonicalJson.js';
import { perObject } from '../base/perObject.js';
import { shortHash } from '../base/shortHash.js';
import type { Launch, ServerDefinition, ToolOverrides, Value } from './model.js';

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

/**
 * Hashes the program with its arguments, or the address, as they are written. It stays if a server is
 * renamed or moves to another file, or if its environment changes.
 */
export const programHashOf = perObject((launch: Launch): string =>
  shortHash(
    JSON.stringify(
      launch.transport === 'stdio'
        ? [launch.command, ...launch.args.map(writtenOf)]
        : [writtenOf(launch.url)],
    ),
  ),
);

function writtenOf(value: Value): unknown {
  return value.kind === 'literal' ? value.value : [value.prefix, value.source, value.suffix];
}
