/**
 * Reads what authorization servers answer as tolerantly as it can be used, before the SDK's strict schemas see it (X7).
 * `null` counts as absent. A value of a type that the schema does not allow costs its field, or its entry of a list.
 * A required field that this client does not need gets a neutral value.
 */
import type * as sdk from '@modelcontextprotocol/sdk/shared/auth.js';
import type { ZodType } from 'zod';
import { isObject } from '../../../base/isObject.js';

/** The address of an endpoint that an authorization server does not have. By RFC 2606 it never resolves. */
export const absentEndpoint = 'https://absent.invalid/';

interface Kind {
  readonly schemas: readonly (keyof typeof sdk & `${string}Schema`)[];
  /** Values for required fields that servers leave out. */
  readonly assumed?: Readonly<Record<string, unknown>>;
}

/** The kinds of answers, by the field that identifies them. */
const kinds: Readonly<Record<string, Kind>> = {
  access_token: { schemas: ['OAuthTokensSchema'], assumed: { token_type: 'Bearer' } },
  client_id: { schemas: ['OAuthClientInformationFullSchema'], assumed: { redirect_uris: [] } },
  resource: { schemas: ['OAuthProtectedResourceMetadataSchema'] },
  issuer: {
    schemas: ['OAuthMetadataSchema', 'OpenIdProviderDiscoveryMetadataSchema'],
    assumed: {
      authorization_endpoint: absentEndpoint,
      jwks_uri: absentEndpoint,
      response_types_supported: ['code'],
      subject_types_supported: [],
      id_token_signing_alg_values_supported: [],
    },
  },
  error: { schemas: ['OAuthErrorResponseSchema'] },
};

/** More faults than this in one field cost the whole field. */
const mostFaults = 100;

/** Returns the JSON text of an answer as the SDK takes it. A text that is not a known answer comes back unchanged. */
export async function readableAnswer(text: string): Promise<string> {
  const answer = parsedObject(text);
  const kind = Object.entries(kinds).find(([key]) => typeof answer?.[key] === 'string')?.[1];
  if (!answer || !kind) return text;
  const schemas = await import('@modelcontextprotocol/sdk/shared/auth.js');
  for (const name of kind.schemas) repair(schemas[name], answer, kind.assumed ?? {});
  return JSON.stringify(answer);
}

/** Says in words what came in place of a token; undefined if there is one. Values stay out of it, because they are secret. */
export function whatCameForToken(text: string): string | undefined {
  const answer = parsedObject(text);
  if (!answer) return 'not with a JSON object';
  const { access_token: token, error, error_description: description } = answer;
  if (typeof token === 'string' && token !== '') return undefined;
  if (typeof error === 'string') {
    const words = typeof description === 'string' ? `: ${description}` : '';
    return `with the error ${error}${words}`.slice(0, 300);
  }
  const isNull = /"access_token"\s*:\s*null/.test(text);
  const found = isNull ? 'null' : token === undefined ? 'missing' : token === '' ? 'empty' : 'no text';
  return `without a token: \`access_token\` is ${found}`;
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text, (_, one: unknown) =>
      Array.isArray(one) ? one.filter((entry) => entry !== null && entry !== undefined) : (one ?? undefined),
    );
    return isObject(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function repair(schema: ZodType, answer: Record<string, unknown>, needless: Readonly<Record<string, unknown>>): void {
  // A fault in an entry may hide another one. Each round removes something, or is the last.
  for (let round = 0; round < mostFaults; round++) {
    for (const [key, value] of Object.entries(needless)) answer[key] ??= value;
    const { error } = schema.safeParse(answer);
    if (!error || !removeFaults(answer, error.issues)) return;
  }
}

/** Removes each entry or field with a fault. Returns false if nothing could be removed. */
function removeFaults(answer: Record<string, unknown>, faults: readonly { readonly path: PropertyKey[] }[]): boolean {
  const entries = new Map<string, Set<PropertyKey | undefined>>();
  for (const { path } of faults) {
    const field = String(path[0]);
    entries.set(field, (entries.get(field) ?? new Set()).add(path[1]));
  }
  let hasRemoved = false;
  for (const [field, wrong] of entries) {
    if (!(field in answer)) continue;
    const list: unknown = answer[field];
    if (Array.isArray(list) && !wrong.has(undefined) && wrong.size <= mostFaults) {
      answer[field] = list.filter((_, index) => !wrong.has(index));
    } else {
      Reflect.deleteProperty(answer, field);
    }
    hasRemoved = true;
  }
  return hasRemoved;
}
