/**
 * Reads what authorization servers answer as tolerantly as it can be used, before the SDK's strict schemas see it (X7).
 * `null` counts as absent. A value of a type that the schema does not allow costs its field, or its entry of a list.
 * A required field that this client does not need gets a neutral value.
 */
import type { ZodType } from 'zod';
import { isObject } from '../../../base/isObject.js';

/** The address of an endpoint that an authorization server does not have. By RFC 2606 it never resolves. */
export const absentEndpoint = 'https://absent.invalid/';

/** Values for required fields that servers leave out, by the field that identifies the kind of answer. */
const assumed: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  access_token: { token_type: 'Bearer' },
  client_id: { redirect_uris: [] },
  resource: {},
  issuer: {
    authorization_endpoint: absentEndpoint,
    jwks_uri: absentEndpoint,
    response_types_supported: ['code'],
    subject_types_supported: [],
    id_token_signing_alg_values_supported: [],
  },
  error: {},
};

/** More faults than this in one field cost the whole field. */
const mostFaults = 100;

/** Returns the JSON text of an answer as the SDK takes it. A text that is not a known answer comes back unchanged. */
export async function readableAnswer(text: string): Promise<string> {
  const answer = parsedObject(text);
  const kind = Object.keys(assumed).find((key) => typeof answer?.[key] === 'string');
  if (!answer || kind === undefined) return text;
  for (const schema of await schemasOf(kind)) repair(schema, answer, assumed[kind] ?? {});
  return JSON.stringify(answer);
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

async function schemasOf(kind: string): Promise<readonly ZodType[]> {
  const sdk = await import('@modelcontextprotocol/sdk/shared/auth.js');
  switch (kind) {
    case 'access_token':
      return [sdk.OAuthTokensSchema];
    case 'client_id':
      return [sdk.OAuthClientInformationFullSchema];
    case 'resource':
      return [sdk.OAuthProtectedResourceMetadataSchema];
    case 'issuer':
      return [sdk.OAuthMetadataSchema, sdk.OpenIdProviderDiscoveryMetadataSchema];
    default:
      return [sdk.OAuthErrorResponseSchema];
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
