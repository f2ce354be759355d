/** Canonical hashes (R2). The order of lists counts. A literal and a host variable with the same value are equal. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/canonicalJson.js';
import type { EnvValue, Launch, ServerDefinition, ToolOverrides } from './model.js';

export function launchHashOf(launch: Launch, trulyStateless: boolean): string {
  if (launch.transport === 'stdio') {
    const { argReferences, envFile, env, ...rest } = launch;
    const args = rest.args.map((text, index) => plainOf(argReferences?.get(index)) ?? text);
    return digest({ trulyStateless, ...rest, args, env: { ...named(envFile?.values), ...named(env, plainOf) } });
  }
  const { url, urlReference, headers, oauth, ...rest } = launch;
  const { clientSecret, privateKey } = oauth ?? {};
  return digest({
    trulyStateless,
    ...rest,
    url: plainOf(urlReference) ?? url,
    headers: named(headers, plainOf),
    oauth: oauth && { ...oauth, clientSecret: plainOf(clientSecret), privateKey: plainOf(privateKey) },
  });
}

/** The parts of a definition that need no restart. */
export type ServerView = Pick<
  ServerDefinition,
  'tools' | 'transform' | 'overrides' | 'prompts' | 'resources' | 'manual' | 'timeouts' | 'start' | 'spare'
>;

export function viewHashOf(view: ServerView): string {
  return digest({ ...view, overrides: view.overrides && plainOverrides(view.overrides) });
}

export function plainOverrides(overrides: ToolOverrides): object {
  return named(overrides, (override) => ({ ...override, arguments: named(override.arguments) }));
}

/** Returns an object in which no name can be `__proto__`. */
function named<T>(values: ReadonlyMap<string, T> = new Map(), plain: (value: T) => unknown = (value) => value): object {
  return Object.fromEntries([...values].map(([name, value]) => [`=${name}`, plain(value)]));
}

/** Before the program runs, its output is unknown, so the program replaces it. */
function plainOf(value: EnvValue | undefined): unknown {
  if (value?.kind !== 'reference' || value.source.kind !== 'command') return value?.value;
  const { source, prefix, suffix } = value;
  return { command: source.argv, cwd: source.cwd, prefix, suffix };
}

function digest(value: object): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
