/**
 * The references of a launch to what programs print (C2): their values are not in the definition, because nothing runs
 * before a person has approved it. Everything here is pure.
 */
import type { EnvValue, HttpLaunch, Launch, Reference, ReferenceSource, StdioLaunch } from '../model.js';

export type CommandSource = Extract<ReferenceSource, { kind: 'command' }>;

export interface CommandReference {
  readonly source: CommandSource;
  /** Where it stands in the entry of the server, as a path for `ServerPlaces`. */
  readonly path: readonly (string | number)[];
}

/** Replaces a reference by one that may have another value. */
type Change = (reference: Reference, path: CommandReference['path']) => Reference;

/** Returns each reference to what a program prints. */
export function commandReferences(launch: Launch): CommandReference[] {
  const found: CommandReference[] = [];
  changed(launch, (reference, path) => {
    const { source } = reference;
    if (source.kind === 'command') found.push({ source, path });
    return reference;
  });
  return found;
}

/** True if a value of the launch is a secret that a person enters (C2a). */
export function usesSecrets(launch: Launch): boolean {
  let found = false;
  changed(launch, (reference) => {
    found ||= reference.source.kind === 'secret';
    return reference;
  });
  return found;
}

/** Gives those references their values. @param outputOf what the program prints, without prefix and suffix */
export function withOutputs(launch: Launch, outputOf: (source: CommandSource) => string): Launch {
  return changed(launch, (reference) => {
    const { source, prefix, suffix } = reference;
    return source.kind === 'command' ? { ...reference, value: prefix + outputOf(source) + suffix } : reference;
  });
}

function changed(launch: Launch, change: Change): Launch {
  return launch.transport === 'stdio' ? changedProgram(launch, change) : changedAddress(launch, change);
}

function changedProgram(launch: StdioLaunch, change: Change): StdioLaunch {
  const { argReferences } = launch;
  const env = changedValues(launch.env, change, 'env');
  if (!argReferences) return { ...launch, env };
  const references = new Map([...argReferences].map(([index, each]) => [index, change(each, ['args', index])]));
  const args = launch.args.map((argument, index) => references.get(index)?.value ?? argument);
  return { ...launch, args, argReferences: references, env };
}

function changedAddress(launch: HttpLaunch, change: Change): HttpLaunch {
  const { urlReference, oauth } = launch;
  const headers = changedValues(launch.headers, change, 'headers');
  const url = urlReference && change(urlReference, ['url']);
  const ofClient = (key: 'clientSecret' | 'privateKey'): EnvValue | undefined =>
    oauth?.[key] && changedValue(oauth[key], change, ['oauth', key]);
  return {
    ...launch,
    headers,
    ...(url && { url: url.value, urlReference: url }),
    ...(oauth && { oauth: { ...oauth, clientSecret: ofClient('clientSecret'), privateKey: ofClient('privateKey') } }),
  };
}

function changedValues(
  values: ReadonlyMap<string, EnvValue>,
  change: Change,
  of: 'env' | 'headers',
): Map<string, EnvValue> {
  return new Map([...values].map(([name, value]) => [name, changedValue(value, change, [of, name])]));
}

function changedValue(value: EnvValue, change: Change, path: CommandReference['path']): EnvValue {
  return value.kind === 'reference' ? change(value, path) : value;
}
