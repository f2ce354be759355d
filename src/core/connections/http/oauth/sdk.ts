import { OAuthError } from '@modelcontextprotocol/sdk/server/auth/errors.js';

export function errorCode(error: unknown): string | undefined {
  return error instanceof OAuthError ? error.errorCode : undefined;
}
