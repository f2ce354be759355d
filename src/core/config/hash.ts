/**
 * Canonical hashes of a server's definition show the kind of an edit (R2). Equal meaning gives equal hashes. The order
 * of `env` and `headers` does not count; the order of `args`, patterns and transforms does. A literal and a host
 * variable with the same value are equal.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/canonicalJson.js';
import type { EnvValue, Launch, ServerDefinition, ToolOverrides } from './model.js';

type Plain = string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain };

/** Hashes the inputs of an instance. The digest covers resolved host values (C2). */
export function launchHashOf(launch: Launch, trulyStateless: boolean): string {
  switch (launch.transport) {
    case 'stdio': {
      const { transport, command, cwd, env, envFile } = launch;
      const args = launch.args.map((text, index) => plainOf(launch.argReferences?.get(index)) ?? text);
      const ofFile = envFile && Object.fromEntries([...envFile.values].map(([name, value]) => [`=${name}`, value]));
      return digest({ trulyStateless, transport, command, args, cwd, env: { ...ofFile, ...valuesOf(env) } });
    }
    case 'streamable_http': {
      const { transport, headers, sessionId, oauth } = launch;
      const url = plainOf(launch.urlReference) ?? launch.url;
      const signIn = oauth && {
        grant: oauth.grant,
        clientId: oauth.clientId,
        issuer: oauth.issuer ?? '',
        clientSecret: plainOf(oauth.clientSecret) ?? '',
        privateKey: plainOf(oauth.privateKey) ?? '',
        scopes: oauth.scopes,
        redirectPort: oauth.redirectPort ?? 0,
      };
      return digest({
        trulyStateless,
        transport,
        url,
        headers: valuesOf(headers),
        sessionId,
        ...(signIn && { oauth: signIn }),
      });
    }
  }
}

/** Hashes the parts that need no restart: filters, names, start time and timeouts. */
export function viewHashOf(
  view: Pick<
    ServerDefinition,
    'tools' | 'transform' | 'overrides' | 'prompts' | 'resources' | 'manual' | 'timeouts' | 'start' | 'spare'
  >,
): string {
  const { tools, transform, overrides, prompts, resources, manual, timeouts, start, spare } = view;
  return digest({
    tools: { ...tools },
    transform: transform.map((step) => ({ ...step })),
    prompts: { filter: { ...prompts.filter }, transform: prompts.transform.map((step) => ({ ...step })) },
    resources: { ...resources },
    ...(overrides && { overrides: plainOverrides(overrides) }),
    ...(manual !== undefined && { manual }),
    ...(start && { start }),
    ...(spare !== undefined && { spare }),
    timeouts: { ...timeouts },
  });
}

/** The values of arguments are JSON values. */
export function plainOverrides(overrides: ToolOverrides): Plain {
  return Object.fromEntries(
    [...overrides].map(([tool, { description, arguments: given }]) => [
      `=${tool}`,
      {
        ...(description !== undefined && { description }),
        arguments: Object.fromEntries([...given].map(([name, override]) => [`=${name}`, { ...override } as Plain])),
      },
    ]),
  );
}

function valuesOf(values: ReadonlyMap<string, EnvValue>): Readonly<Record<string, Plain>> {
  return Object.fromEntries([...values].map(([name, value]) => [`=${name}`, plainOf(value)]));
}

/** Before the program runs, its output is unknown, so the program replaces it. */
function plainOf(value: EnvValue): Plain;
function plainOf(value: EnvValue | undefined): Plain | undefined;
function plainOf(value: EnvValue | undefined): Plain | undefined {
  if (value?.kind !== 'reference' || value.source.kind !== 'command') return value?.value;
  const { source, prefix, suffix } = value;
  return { command: source.argv, cwd: source.cwd, prefix, suffix };
}

function digest(value: Plain): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
