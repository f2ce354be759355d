/** The SDK's OAuth functions, loaded when a server asks for a sign-in. */
import type * as auth from '@modelcontextprotocol/sdk/client/auth.js';
import type * as extensions from '@modelcontextprotocol/sdk/client/auth-extensions.js';

export interface OAuthSdk extends Pick<
  typeof auth,
  | 'discoverAuthorizationServerMetadata'
  | 'discoverOAuthProtectedResourceMetadata'
  | 'exchangeAuthorization'
  | 'fetchToken'
  | 'refreshAuthorization'
  | 'registerClient'
  | 'selectClientAuthMethod'
  | 'startAuthorization'
> {
  /** Returns the code of the authorization server's answer, such as `invalid_grant`; undefined for other errors. */
  readonly errorCode: (error: unknown) => string | undefined;
}

export async function loadOAuthSdk(): Promise<OAuthSdk> {
  const [functions, { OAuthError }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/auth.js'),
    import('@modelcontextprotocol/sdk/server/auth/errors.js'),
  ]);
  return {
    ...functions,
    errorCode: (error) => (error instanceof OAuthError ? error.errorCode : undefined),
  };
}

/** Proves a client by a signed statement instead of a secret (RFC 7523). */
export async function privateKeyProof(
  options: Parameters<typeof extensions.createPrivateKeyJwtAuth>[0],
): Promise<ReturnType<typeof extensions.createPrivateKeyJwtAuth>> {
  const { createPrivateKeyJwtAuth } = await import('@modelcontextprotocol/sdk/client/auth-extensions.js');
  return createPrivateKeyJwtAuth(options);
}
