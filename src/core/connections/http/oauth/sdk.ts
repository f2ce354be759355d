/**
 * What a renewal takes from the SDK. It is an argument, so that a case of a bug report runs a
 * renewal alone.
 */
import { refreshAuthorization } from '@modelcontextprotocol/sdk/client/auth.js';
import { OAuthError } from '@modelcontextprotocol/sdk/server/auth/errors.js';

export function errorCode(error: unknown): string | undefined {
  return error instanceof OAuthError ? error.errorCode : undefined;
}

export const loadOAuthSdk = () => ({ refreshAuthorization, errorCode });
export type OAuthSdk = ReturnType<typeof loadOAuthSdk>;
