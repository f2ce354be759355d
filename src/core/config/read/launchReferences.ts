/** The references of a launch to printed values (C2). No program runs before a person has approved it. */
import type { EnvValue, Launch, Reference, ReferenceSource } from '../model.js';

export type CommandSource = Extract<ReferenceSource, { kind: 'command' }>;

export interface CommandReference {
  readonly source: CommandSource;
  /** Its path in the server's entry, for `ServerPlaces`. */
  readonly path: readonly (string | number)[];
}

export function commandReferences(launch: Launch): CommandReference[] {
  const found: CommandReference[] = [];
  changed(launch, (reference, path) => {
    if (reference.source.kind === 'command') found.push({ source: reference.source, path });
    return reference;
  });
  return found;
}

export function usesSecrets(launch: Launch): boolean {
  let found = false;
  changed(launch, (reference) => {
    found ||= reference.source.kind === 'secret';
    return reference;
  });
  return found;
}

/** Gives those references their values. @param outputOf returns the output of a program, without prefix and suffix */
export function withOutputs(launch: Launch, outputOf: (source: CommandSource) => string): Launch {
  return changed(launch, (reference) => {
    const { source, prefix, suffix } = reference;
    return source.kind === 'command' ? { ...reference, value: prefix + outputOf(source) + suffix } : reference;
  });
}

function changed(launch: Launch, change: (reference: Reference, path: CommandReference['path']) => Reference): Launch {
  const changedValue = (value: EnvValue, path: CommandReference['path']): EnvValue =>
    value.kind === 'reference' ? change(value, path) : value;
  const changedValues = (of: 'env' | 'headers', values: ReadonlyMap<string, EnvValue>): Map<string, EnvValue> =>
    new Map([...values].map(([name, value]) => [name, changedValue(value, [of, name])]));
  if (launch.transport === 'stdio') {
    const { argReferences } = launch;
    const env = changedValues('env', launch.env);
    if (!argReferences) return { ...launch, env };
    const references = new Map([...argReferences].map(([index, each]) => [index, change(each, ['args', index])]));
    const args = launch.args.map((argument, index) => references.get(index)?.value ?? argument);
    return { ...launch, args, argReferences: references, env };
  }
  const { urlReference, oauth } = launch;
  const headers = changedValues('headers', launch.headers);
  const url = urlReference && change(urlReference, ['url']);
  const ofClient = (key: 'clientSecret' | 'privateKey'): EnvValue | undefined =>
    oauth?.[key] && changedValue(oauth[key], ['oauth', key]);
  return {
    ...launch,
    headers,
    ...(url && { url: url.value, urlReference: url }),
    ...(oauth && { oauth: { ...oauth, clientSecret: ofClient('clientSecret'), privateKey: ofClient('privateKey') } }),
  };
}
