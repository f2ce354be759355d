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
  /** Says whether a token for the resource is one for the server. */
  readonly resourceMatches: (server: URL, resource: string) => boolean;
  /** Returns the code of the authorization server's answer, such as `invalid_grant`; undefined for other errors. */
  readonly errorCode: (error: unknown) => string | undefined;
}

export async function loadOAuthSdk(): Promise<OAuthSdk> {
  const [functions, { checkResourceAllowed, resourceUrlFromServerUrl }, { OAuthError }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/auth.js'),
    import('@modelcontextprotocol/sdk/shared/auth-utils.js'),
    import('@modelcontextprotocol/sdk/server/auth/errors.js'),
  ]);
  return {
    ...functions,
    resourceMatches: (server, resource) =>
      URL.canParse(resource) &&
      checkResourceAllowed({ requestedResource: resourceUrlFromServerUrl(server), configuredResource: resource }),
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
