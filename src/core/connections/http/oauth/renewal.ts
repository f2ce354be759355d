/** Renews, gets and revokes tokens without a person. It does not know the time for it. */
import { english } from '../../../base/language.js';
import { createPrivateKey } from 'node:crypto';
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { fetchToken, selectClientAuthMethod } from '@modelcontextprotocol/sdk/client/auth.js';
import type { Clock } from '../../../base/clock.js';
import { SignInFailure } from './contract.js';
import { checkAddress, checkAuthority, checkSecretRecipient, targetOf } from './discovery.js';
import { granted, type Grant } from './grant.js';
import { errorCode, type OAuthSdk } from './sdk.js';
import type { SignInDeps, SignInSubject } from './signIn.js';

export type Renewal =
  | { readonly kind: 'renewed'; readonly grant: Grant }
  /**
   * A person must sign in again. With `clientUnknown`, this client must also be registered again.
   */
  | {
      readonly kind: 'refused';
      readonly why: string;
      readonly clientUnknown: boolean;
    };

/** Rejects if the authorization server could not be reached, or failed. */
export async function renewed(
  sdk: OAuthSdk,
  grant: Grant & { readonly client: OAuthClientInformationMixed },
  fetchFn: FetchLike,
  clock: Clock,
): Promise<Renewal> {
  const { authority, client, tokens, scope } = grant;
  checkAuthority(authority);
  const refresh = (send: FetchLike): Promise<OAuthTokens> =>
    sdk.refreshAuthorization(authority.issuer, {
      clientInformation: client,
      refreshToken: tokens.refresh_token ?? '',
      fetchFn: send,
      ...targetOf(authority),
    });
  try {
    const next = await refresh(withScope(fetchFn, scope)).catch((error: unknown) => {
      // The server may have granted less than was asked, without a word about it.
      if (scope === undefined || sdk.errorCode(error) !== 'invalid_scope') throw error;
      return refresh(fetchFn);
    });
    return {
      kind: 'renewed',
      grant: granted(grant, next, clock.now()),
    };
  } catch (error) {
    const code = sdk.errorCode(error);
    // A failure of the server itself says nothing about the token.
    if (code === undefined || code === 'server_error' || code === 'temporarily_unavailable')
      throw error;
    const clientUnknown = code === 'invalid_client' || code === 'unauthorized_client';
    return {
      kind: 'refused',
      why: `${code} ${(error as Error).message}`,
      clientUnknown,
    };
  }
}

/**
 * Adds the scope, because Microsoft Entra requires it if the client is the resource's own
 * application.
 */
function withScope(fetchFn: FetchLike, scope: string | undefined): FetchLike {
  if (scope === undefined) return fetchFn;
  return (target, init) => {
    const body = new URLSearchParams(init?.body as URLSearchParams);
    body.set('scope', scope);
    return fetchFn(target, { ...init, body });
  };
}

/**
 * Revokes a token (RFC 7009). It does nothing if the authorization server has no endpoint for it.
 */
export async function revoke(
  { authority, client, tokens }: Grant,
  fetchFn: FetchLike,
): Promise<void> {
  const { metadata } = authority;
  const endpoint =
    metadata && 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined;
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint) || !client) return;
  checkAddress(authority, endpoint);
  const { access_token, refresh_token } = tokens;
  for (const [hint, token] of Object.entries({ refresh_token, access_token })) {
    if (token === undefined) continue;
    const body = new URLSearchParams({ token, token_type_hint: hint });
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
    const { client_id: id, client_secret: secret } = client;
    const method = selectClientAuthMethod(
      client,
      metadata?.token_endpoint_auth_methods_supported ?? [],
    );
    if (secret !== undefined && method === 'client_secret_basic') {
      headers.set('authorization', `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`);
    } else {
      body.set('client_id', id);
      if (secret !== undefined) body.set('client_secret', secret);
    }
    const reply = await fetchFn(endpoint, {
      method: 'POST',
      headers,
      body,
    });
    if (!reply.ok) throw new Error(`HTTP ${reply.status}`);
  }
}

/**
 * Gets tokens by the grant `client_credentials`: the client itself signs in. Rejects with
 * `SignInFailure`.
 */
export async function programGrant(
  { authority, launch, scope: asked }: Omit<SignInSubject, 'registration'>,
  { fetchFn, clock }: Pick<SignInDeps, 'fetchFn' | 'clock'>,
): Promise<Grant> {
  const { oauth } = launch;
  if (!oauth)
    throw new SignInFailure('The config file names no client to sign in as. Add `oauth.clientId`.');
  checkAuthority(authority);
  checkSecretRecipient(oauth, authority);
  const { issuer, scopes } = authority;
  const { clientId, clientSecret, privateKey: key, scopes: own } = oauth;
  const scope = own.length > 0 ? own.join(' ') : (asked ?? scopes?.join(' '));
  const { ClientCredentialsProvider, PrivateKeyJwtProvider } =
    await import('@modelcontextprotocol/sdk/client/auth-extensions.js');
  const client = {
    clientId,
    expectedIssuer: issuer,
    ...(scope !== undefined && { scope }),
  };
  // With a key, the client proves itself by a signed statement instead of a secret (RFC 7523).
  const provider = key
    ? new PrivateKeyJwtProvider({
        ...client,
        privateKey: key.value,
        algorithm: algorithmOf(key.value),
      })
    : new ClientCredentialsProvider({ ...client, clientSecret: clientSecret?.value ?? '' });
  try {
    const tokens = await fetchToken(provider, issuer, { fetchFn, ...targetOf(authority) });
    return granted(
      {
        authority,
        client: undefined,
        scope,
      },
      tokens,
      clock.now(),
    );
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    throw new SignInFailure(
      english`${issuer} gave no token to ${clientId}: ${code} ${(error as Error).message}`.trim(),
    );
  }
}

function algorithmOf(pem: string): string {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    if (asymmetricKeyType === 'rsa') return 'RS256';
    if (asymmetricKeyType === 'ed25519') return 'EdDSA';
    const curves: Readonly<Record<string, string>> = {
      prime256v1: 'ES256',
      secp384r1: 'ES384',
      secp521r1: 'ES512',
    };
    const algorithm = curves[asymmetricKeyDetails?.namedCurve ?? ''];
    if (algorithm !== undefined) return algorithm;
  } catch {
    // The error is made below, without the key in it.
  }
  throw new SignInFailure(
    'oauth.privateKey is not a private key in PEM form (PKCS #8) of RSA, an elliptic curve or Ed25519.',
  );
}
