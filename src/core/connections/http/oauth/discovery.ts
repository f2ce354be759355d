/**
 * Who gives tokens for a server, and how: protected resource metadata (RFC 9728), then the authorization server's own
 * (RFC 8414, OpenID Connect Discovery), with the fall-backs of the protocol of 2025-03-26. Asks nothing of a person.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/sdk/shared/auth.js';
import { shown } from '../exchange.js';
import { SignInFailure } from './contract.js';
import type { OAuthSdk } from './sdk.js';

/** An authorization server, for one resource. */
export interface Authority {
  /** As the server names it; what is registered there is bound to it. */
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
  /** The resource indicator (RFC 8707), as the server writes it; absent where it publishes no metadata. */
  readonly resource: string | undefined;
  /** What the server says its scopes are. */
  readonly scopes: readonly string[] | undefined;
}

/** @param metadataUrl what the server's challenge named; where nothing is there, the well-known places are tried. */
export async function discover(
  sdk: OAuthSdk,
  server: URL,
  metadataUrl: URL | undefined,
  fetchFn: FetchLike,
): Promise<Authority> {
  const plain = new URL(server);
  plain.username = plain.password = plain.hash = '';
  const find = (resourceMetadataUrl: URL | undefined) =>
    sdk.discoverOAuthServerInfo(plain, { fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) });
  let found = await find(metadataUrl);
  if (!found.resourceMetadata && metadataUrl) found = await find(undefined);
  const { authorizationServerUrl, authorizationServerMetadata, resourceMetadata } = found;
  if (resourceMetadata && !sdk.resourceMatches(plain, resourceMetadata.resource)) {
    throw new SignInFailure(
      `The metadata of ${shown(plain)} is for another resource, ${resourceMetadata.resource}: no token is asked for.`,
    );
  }
  return {
    issuer: String(authorizationServerUrl),
    metadata: authorizationServerMetadata,
    resource: resourceMetadata?.resource,
    scopes: resourceMetadata?.scopes_supported,
  };
}

/** Whether the server says that it wants OAuth, so that signing in can be offered. */
export function isAdvertised({ metadata, resource }: Authority): boolean {
  return resource !== undefined || metadata !== undefined;
}

/** Throws for what must not be trusted with a code or a token. */
export function checkAuthority({ issuer, metadata }: Authority): void {
  const addresses = metadata ? [metadata.authorization_endpoint, metadata.token_endpoint] : [issuer];
  if (metadata?.registration_endpoint !== undefined) addresses.push(metadata.registration_endpoint);
  for (const address of addresses) {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url))) continue;
    throw new SignInFailure(`The authorization server ${issuer} is not encrypted (${address}): no sign-in there.`);
  }
}

/** Throws where the authorization server cannot take a proof key, without which others could use the code. */
export function checkProofKey({ issuer, metadata }: Authority): void {
  if (!metadata || metadata.code_challenge_methods_supported?.includes('S256')) return;
  throw new SignInFailure(
    `The authorization server ${issuer} does not say that it supports PKCE with S256, which MCP requires.`,
  );
}

function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);
}
