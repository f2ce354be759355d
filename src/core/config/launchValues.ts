/**
 * The values of a launch, each a text or a reference (C2). No program runs before a person has
 * approved it.
 */
import { digest, named } from './hash.js';
import type { Launch, ReferenceSource, Value } from './model.js';

export type CommandSource = Extract<ReferenceSource, { kind: 'command' }>;

/** The path of a value in the server's entry, for `ServerPlaces`. */
type ValuePath = readonly (string | number)[];

export interface CommandReference {
  readonly source: CommandSource;
  readonly path: ValuePath;
}

function mapValues<To>(launch: Launch, change: (value: Value, path: ValuePath) => To): Launch<To> {
  const changed = (of: string, values: ReadonlyMap<string, Value>): Map<string, To> =>
    new Map([...values].map(([name, value]) => [name, change(value, [of, name])]));
  if (launch.transport === 'stdio') {
    const env = changed('env', launch.env);
    const args = launch.args.map((value, index) => change(value, ['args', index]));
    return {
      ...launch,
      args,
      env,
    };
  }
  const { oauth } = launch;
  const headers = changed('headers', launch.headers);
  const url = change(launch.url, ['url']);
  const ofClient = (key: 'clientSecret' | 'privateKey'): To | undefined =>
    oauth?.[key] && change(oauth[key], ['oauth', key]);
  const clientSecret = ofClient('clientSecret');
  const privateKey = ofClient('privateKey');
  return {
    ...launch,
    url,
    headers,
    oauth: oauth && {
      ...oauth,
      clientSecret,
      privateKey,
    },
  };
}

interface PlacedValue {
  readonly value: Value;
  readonly path: ValuePath;
}

export function valuesOf(launch: Launch): PlacedValue[] {
  const found: PlacedValue[] = [];
  mapValues(launch, (value, path) => found.push({ value, path }));
  return found;
}

export function textsOf(values: readonly Value[]): string[] {
  return values.map(({ value }) => value);
}

/** Returns the program that prints a value. */
export function printerOf(value: Value): CommandSource | undefined {
  return value.kind === 'reference' && value.source.kind === 'command' ? value.source : undefined;
}

export function commandReferences(launch: Launch): CommandReference[] {
  return valuesOf(launch).flatMap(({ value, path }) => {
    const source = printerOf(value);
    return source ? [{ source, path }] : [];
  });
}

export function usesSecrets(launch: Launch): boolean {
  return valuesOf(launch).some(
    ({ value }) => value.kind === 'reference' && value.source.kind === 'secret',
  );
}

/**
 * Gives those references their values. @param outputOf returns the output of a program, without
 * prefix and suffix
 */
export function withOutputs(launch: Launch, outputOf: (source: CommandSource) => string): Launch {
  return mapValues(launch, (value) => {
    if (value.kind === 'literal' || value.source.kind !== 'command') return value;
    return { ...value, value: value.prefix + outputOf(value.source) + value.suffix };
  });
}

/** Hashes the launch (R2) with the values of this moment. */
export function launchHashOf(launch: Launch, trulyStateless: boolean): string {
  const plain = mapValues(launch, plainOf);
  if (plain.transport === 'streamable_http') {
    return digest({
      trulyStateless,
      ...plain,
      headers: named(plain.headers),
    });
  }
  const { envFile, env, ...rest } = plain;
  return digest({
    trulyStateless,
    ...rest,
    env: { ...named(envFile?.values), ...named(env) },
  });
}

/** Before the program runs, its output is unknown, so the program replaces it. */
function plainOf(value: Value): unknown {
  if (value.kind === 'literal' || value.source.kind !== 'command') return value.value;
  const { source, prefix, suffix } = value;
  return {
    command: source.argv,
    cwd: source.cwd,
    prefix,
    suffix,
  };
}
