/** The SDK's OAuth functions, loaded when a server asks for a sign-in. */
import type * as auth from '@modelcontextprotocol/sdk/client/auth.js';
import type * as extensions from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { HttpAgents } from '../agents.js';
import { exchange, readText } from '../exchange.js';
import { readableAnswer } from './answers.js';

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

const bodyLimit = 1024 * 1024;
const bodiless = [101, 204, 205, 304];

/**
 * Gives the SDK's functions a `fetch` over our HTTP exchange, so proxies, certificates and failures are the same as for
 * other requests. It follows no redirect; bodies are small.
 * @param signal ends everything in progress.
 */
export function oauthFetch(agents: HttpAgents, userAgent: string, signal: AbortSignal): FetchLike {
  return async (target, init) => {
    const url = new URL(target);
    const headers = Object.fromEntries(new Headers(init?.headers));
    const { body } = init ?? {};
    if (body !== undefined && body !== null && typeof body !== 'string' && !(body instanceof URLSearchParams)) {
      throw new TypeError('A body of another kind than the OAuth functions send');
    }
    const reply = await exchange({
      method: init?.method === 'POST' ? 'POST' : 'GET',
      url,
      headers: { accept: 'application/json', ...headers, 'accept-encoding': 'gzip, br', 'user-agent': userAgent },
      body: body === undefined || body === null ? undefined : String(body),
      redirects: 'leave',
      agents,
      signal,
    });
    const text = await readableAnswer(await readText(reply, bodyLimit));
    const replied = new Headers();
    for (const [name, value] of Object.entries(reply.headers)) {
      if (name !== 'content-encoding' && name !== 'content-length' && value !== undefined) {
        replied.set(name, String(value));
      }
    }
    return new Response(bodiless.includes(reply.status) ? null : text, { status: reply.status, headers: replied });
  };
}
