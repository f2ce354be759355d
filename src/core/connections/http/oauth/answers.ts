/**
 * Reads what authorization servers answer before the SDK's strict schemas see it (X7). A value of a
 * wrong type costs its field, or its entry of a list. A required field that this client does not
 * need gets a neutral value.
 */
import { english } from '../../../base/language.js';
import type * as sdk from '@modelcontextprotocol/sdk/shared/auth.js';
import type { ZodType } from 'zod';
import { isObject, type Fields } from '../../../base/isObject.js';
import { unlessThrown } from '../../../base/unlessThrown.js';

/**
 * The address of an endpoint that an authorization server does not have. By RFC 2606 it never
 * resolves.
 */
export const absentEndpoint = 'https://absent.invalid/';

interface Kind {
  readonly schemas: readonly (keyof typeof sdk & `${string}Schema`)[];
  readonly assumed?: Fields;
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

/** A fault may hide another one of the same value. */
const mostRounds = 100;

/**
 * Returns the JSON text of an answer as the SDK takes it. A text that is not a known answer comes
 * back unchanged.
 */
export async function readableAnswer(text: string): Promise<string> {
  const answer = parsedObject(text);
  const kind = Object.entries(kinds).find(([key]) => typeof answer?.[key] === 'string')?.[1];
  if (!answer || !kind) return text;
  const schemas = await import('@modelcontextprotocol/sdk/shared/auth.js');
  for (const name of kind.schemas) repair(schemas[name], answer, kind.assumed ?? {});
  return JSON.stringify(answer);
}

/**
 * Says in words what came in place of a token; undefined if there is one. Values stay out of it,
 * because they are secret.
 */
export function whatCameForToken(text: string): string | undefined {
  const answer = parsedObject(text);
  if (!answer) return 'not with a JSON object';
  const { access_token: token, error, error_description: description } = answer;
  if (typeof token === 'string' && token !== '') return undefined;
  if (typeof error === 'string') {
    const words = typeof description === 'string' ? english`${error}: ${description}` : error;
    return english`with the error ${words.slice(0, 285)}`;
  }
  const isNull = /"access_token"\s*:\s*null/.test(text);
  return english`without a token: \`access_token\` is ${isNull ? 'null' : faultOf(token)}`;
}

function faultOf(token: unknown): string {
  if (token === undefined) return 'missing';
  return token === '' ? 'empty' : 'no text';
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  const read = (_: string, one: unknown): unknown =>
    Array.isArray(one)
      ? one.filter((entry) => entry !== null && entry !== undefined)
      : (one ?? undefined);
  const value = unlessThrown((): unknown => JSON.parse(text, read));
  return isObject(value) ? { ...value } : undefined;
}

function repair(schema: ZodType, answer: Record<string, unknown>, assumed: Fields): void {
  for (let round = 0; round < mostRounds; round++) {
    for (const [key, value] of Object.entries(assumed)) answer[key] ??= value;
    const issues = schema.safeParse(answer).error?.issues ?? [];
    const faults = issues.map(({ path: [field, entry] }) => ({ field: String(field), entry }));
    const fields = new Set(faults.map(({ field }) => field).filter((field) => field in answer));
    if (fields.size === 0) return;
    for (const field of fields) {
      const wrong = new Set(
        faults.flatMap((fault) => (fault.field === field ? [fault.entry] : [])),
      );
      const list: unknown = answer[field];
      const isLost = !Array.isArray(list) || wrong.has(undefined);
      if (isLost) Reflect.deleteProperty(answer, field);
      else answer[field] = list.filter((_, index) => !wrong.has(index));
    }
  }
}
