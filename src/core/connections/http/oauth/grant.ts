/**
 * The part of a sign-in that is kept from one window to the next, as JSON. An unreadable text
 * counts as nothing.
 */
import { createHash } from 'node:crypto';
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import type { HttpLaunch } from '../../../config/model.js';
import type { Authority } from './discovery.js';

export interface Registration {
  readonly issuer: string;
  readonly client: OAuthClientInformationMixed;
  /** The redirect address; absent for a client not registered by us. */
  readonly redirect: { readonly url: string; readonly port: number | undefined } | undefined;
  /** The registered scopes: authorization servers refuse it others. */
  readonly scope: string | undefined;
}

export interface Grant {
  readonly authority: Authority;
  /**
   * The client of the token, the only one able to renew it; absent for a program's token, because
   * nobody renews it.
   */
  readonly client: OAuthClientInformationMixed | undefined;
  readonly tokens: OAuthTokens;
  readonly expiresAt: number | undefined;
  /** The requested scopes; the token may have less. */
  readonly scope: string | undefined;
  /** The time at which a person signed in, in epoch milliseconds. */
  readonly since?: number | undefined;
}

export interface Kept {
  /** The registration for the next sign-in, perhaps another than the grant's. */
  readonly registration: Registration | undefined;
  readonly grant: Grant | undefined;
  /** The scopes that calls lacked, for the next sign-in of any process; empty if not named. */
  readonly lacks?: string | undefined;
  /** A renewal of the token began and its answer is not here. */
  readonly isRenewing?: boolean | undefined;
}

/** Makes a key without the address, because the address may hold secrets. */
export function grantKey({ url, oauth }: HttpLaunch): string {
  const identity = [
    new URL(url.value).href,
    oauth?.clientId ?? '',
    ...(oauth?.issuer === undefined ? [] : [oauth.issuer]),
  ];
  return `mcpToolsets.oauth.${createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32)}`;
}

export function parseKept(text: string | undefined): Kept {
  const nothing = { registration: undefined, grant: undefined };
  if (text === undefined) return nothing;
  try {
    const {
      registration: registered,
      grant,
      lacks,
      isRenewing,
    } = JSON.parse(text) as Partial<Kept>;
    const registration = typeof registered?.client.client_id === 'string' ? registered : undefined;
    if (typeof grant?.tokens.access_token !== 'string' || grant.authority.issuer === '')
      return { registration, grant: undefined };
    // Earlier versions kept no client with the grant.
    const ofIssuer =
      registration?.issuer === grant.authority.issuer ? registration.client : undefined;
    return {
      registration,
      grant: { ...grant, client: grant.client ?? ofIssuer },
      ...(typeof lacks === 'string' && { lacks }),
      ...(isRenewing === true && { isRenewing }),
    };
  } catch {
    return nothing;
  }
}

export function tokenOf({ grant }: Kept): string | undefined {
  return grant?.tokens.access_token;
}

export function withoutGrant({ registration }: Kept): Kept {
  return { registration, grant: undefined };
}

export function secretsOfKept({ registration, grant }: Kept): string[] {
  const { access_token, refresh_token, id_token } = grant?.tokens ?? {};
  const secrets = [grant?.client?.client_secret, registration?.client.client_secret];
  const all = new Set([access_token, refresh_token, id_token, ...secrets]);
  return [...all].filter((value): value is string => value !== undefined);
}

/** Tokens are renewed this long before they end, so none ends on its way. */
const earlyMs = 30_000;

export function isStale(grant: Grant, now: number): boolean {
  return grant.expiresAt !== undefined && now >= grant.expiresAt;
}

export function granted(
  { authority, client, scope, since }: Pick<Grant, 'authority' | 'client' | 'scope' | 'since'>,
  tokens: OAuthTokens,
  now: number,
): Grant {
  const lifeMs = tokens.expires_in === undefined ? undefined : tokens.expires_in * 1000;
  return {
    authority,
    client,
    tokens,
    expiresAt: lifeMs === undefined ? undefined : now + lifeMs - Math.min(earlyMs, lifeMs / 2),
    scope: tokens.scope ?? scope,
    ...(since !== undefined && { since }),
  };
}

export function joinedScopes(...scopes: readonly (string | undefined)[]): string | undefined {
  const each = new Set(scopes.flatMap(scopesOf));
  return each.size === 0 ? undefined : [...each].join(' ');
}

export function coversScopes(have: string | undefined, wanted: string | undefined): boolean {
  const had = new Set(scopesOf(have));
  return scopesOf(wanted).every((scope) => had.has(scope));
}

function scopesOf(scope: string | undefined): string[] {
  return scope?.split(/\s+/).filter((word) => word !== '') ?? [];
}
