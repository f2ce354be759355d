/**
 * Finds out who gives tokens for a server, and how: by protected resource metadata (RFC 9728), then the authorization
 * server's own (RFC 8414, OpenID Connect Discovery), with the fall-backs of the protocol of 2025-03-26. It asks nothing
 * of a person.
 *
 * Invariants: while no person has acted, only the server's own origin is asked, and the issuer of the file, which was
 * approved; nothing is asked that is not encrypted, but on this machine by a server of this machine; metadata counts
 * only for the issuer at which it was found (RFC 8414 section 3.3).
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/sdk/shared/auth.js';
import { isLoopback } from '../../../base/loopback.js';
import type { OAuthSettings } from '../../../config/model.js';
import { shown } from '../exchange.js';
import { SignInFailure } from './contract.js';
import { absentEndpoint } from './answers.js';
import type { OAuthSdk } from './sdk.js';

/** An authorization server, for one resource. */
export interface Authority {
  /** The issuer as the server names it; what is registered there is bound to it. */
  readonly issuer: string;
  /** The metadata; absent where it publishes none or was not asked. */
  readonly metadata: AuthorizationServerMetadata | undefined;
  /** The resource indicator (RFC 8707), as the server writes it; absent where it publishes no metadata. */
  readonly resource: string | undefined;
  /** The scopes that the server says it has. */
  readonly scopes: readonly string[] | undefined;
}

interface Discovery {
  readonly sdk: OAuthSdk;
  readonly server: URL;
  /** The address that the server's challenge named; where nothing is there, the well-known places are tried. */
  readonly metadataUrl: URL | undefined;
  /** The issuer that the config file names. */
  readonly issuer: string | undefined;
  /** Whether a person has asked for it. */
  readonly byPerson: boolean;
  readonly fetchFn: FetchLike;
}

export async function discover(discovery: Discovery): Promise<Authority> {
  const { sdk, metadataUrl, issuer: wanted, fetchFn } = discovery;
  const server = new URL(discovery.server);
  server.username = server.password = server.hash = '';
  const find = (resourceMetadataUrl?: URL) =>
    sdk
      .discoverOAuthProtectedResourceMetadata(server, { ...(resourceMetadataUrl && { resourceMetadataUrl }) }, fetchFn)
      .catch(() => undefined); // A server may publish none.
  const named = metadataUrl && mayAsk(metadataUrl, discovery) ? await find(metadataUrl) : undefined;
  let resourceMetadata = named ?? (await find());
  if (resourceMetadata && !isSameResource(resourceMetadata.resource, server)) {
    const { resource } = resourceMetadata;
    const place = placeOfParent(resource, server);
    resourceMetadata = place && (await find(place));
    if (resourceMetadata?.resource !== resource) {
      throw new SignInFailure(
        `The metadata of ${shown(server)} is for another resource, ${resource}, so no token is requested.`,
      );
    }
  }
  const offered = resourceMetadata?.authorization_servers ?? [];
  const issuers = offered.length > 0 ? offered : [String(new URL('/', server))];
  const issuer = wanted === undefined ? issuers[0] : issuers.find((one) => isSameIssuer(one, wanted));
  if (issuer === undefined) {
    throw new SignInFailure(
      `${shown(server)} asks for a sign-in at ${issuers[0]}, but the config file names ${wanted}, so no sign-in begins.`,
    );
  }
  const scopes = resourceMetadata?.scopes_supported;
  const authority = { issuer, metadata: undefined, resource: resourceMetadata?.resource, scopes };
  if (!URL.canParse(issuer) || !mayAsk(new URL(issuer), discovery)) {
    if (discovery.byPerson) throw notEncrypted(issuer, issuer);
    return authority;
  }
  const metadata = await sdk.discoverAuthorizationServerMetadata(issuer, { fetchFn });
  const found = { ...authority, metadata };
  const ofServer = offered.length === 0 && metadata !== undefined && isOfOrigin(metadata.issuer, server);
  // In 2025-03-26 a server had its metadata at the root of its origin, whatever the path of its issuer.
  if (ofServer) return { ...found, issuer: metadata.issuer };
  checkIssuer(found);
  return found;
}

/** A slash at the end, which metadata may have or lack, names no other server. */
function isSameResource(resource: string, server: URL): boolean {
  const [one, other] = [new URL(resource), new URL(server)];
  for (const url of [one, other]) url.pathname = url.pathname.replace(/\/$/, '');
  return one.href === other.href;
}

/**
 * Returns the well-known place (RFC 9728 section 3.1) of a resource that the server is part of. A token for such a resource
 * is good at the server's neighbours, so the resource has to say itself who gives it.
 */
function placeOfParent(resource: string, { origin, pathname }: URL): URL | undefined {
  const parent = new URL(resource);
  const path = parent.pathname.replace(/\/$/, '');
  if (parent.href !== `${origin}${parent.pathname}` || !`${pathname}/`.startsWith(`${path}/`)) return undefined;
  return new URL(`/.well-known/oauth-protected-resource${path}`, origin);
}

function isOfOrigin(issuer: string, { origin }: URL): boolean {
  return URL.canParse(issuer) && new URL(issuer).origin === origin;
}

function mayAsk(url: URL, { server, issuer, byPerson }: Discovery): boolean {
  if (url.origin === server.origin) return true;
  if (issuer !== undefined && url.origin === new URL(issuer).origin) return true;
  // A server elsewhere must not make us ask what listens on this machine.
  if (isLoopback(url.hostname)) return byPerson && isLoopback(server.hostname);
  return byPerson && url.protocol === 'https:';
}

/** Says whether two addresses differ at most by a slash at the end, which resource metadata may or may not have. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

/** Tells whether the server publishes that it wants OAuth, so that signing in can be offered. */
export function isAdvertised({ metadata, resource }: Authority): boolean {
  return resource !== undefined || metadata !== undefined;
}

/** Throws for what must not be trusted with a code or a token. */
export function checkAuthority(authority: Authority): void {
  const { issuer, metadata } = authority;
  checkIssuer(authority);
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata ?? {};
  const addresses = metadata ? [authorization_endpoint, token_endpoint, registration_endpoint] : [issuer];
  for (const address of addresses) {
    if (address !== undefined && address !== absentEndpoint) checkAddress(authority, address);
  }
}

/** True if each answer that the browser brings back has to name the authorization server (RFC 9207). */
export function isNamedInAnswers({ metadata }: Authority): boolean {
  const says = metadata && 'authorization_response_iss_parameter_supported' in metadata;
  return says === true && metadata.authorization_response_iss_parameter_supported === true;
}

/**
 * Returns the origins of endpoints that are not of the issuer's site, which is its origin and the encrypted hosts below its
 * host, because only its owner names these. A host above or beside may be another's, and no name tells.
 */
export function originsElsewhere({ issuer, metadata }: Authority): string[] {
  const { authorization_endpoint, token_endpoint, registration_endpoint, ...others } = metadata ?? {};
  const revocation = 'revocation_endpoint' in others ? others.revocation_endpoint : undefined;
  const all = [authorization_endpoint, token_endpoint, registration_endpoint, revocation];
  const urls = all
    .filter((one): one is string => typeof one === 'string' && one !== absentEndpoint && URL.canParse(one))
    .map((one) => new URL(one));
  const site = new URL(issuer);
  const isOfSite = ({ origin, protocol, port, hostname }: URL): boolean =>
    origin === site.origin ||
    (protocol === 'https:' &&
      site.protocol === protocol &&
      site.port === port &&
      hostname.endsWith(`.${site.hostname}`));
  return [...new Set(urls.filter((url) => !isOfSite(url)).map(({ origin }) => origin))];
}

/** Throws where what is sent to an address could be read on its way, or goes to this machine at a stranger's word. */
export function checkAddress({ issuer }: Authority, address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isHere = url !== undefined && isLoopback(url.hostname);
  if (isHere && (!URL.canParse(issuer) || !isLoopback(new URL(issuer).hostname))) {
    throw new SignInFailure(
      `The authorization server ${issuer} names a local address (${address}): no sign-in begins.`,
    );
  }
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere)) return;
  throw notEncrypted(issuer, address);
}

/** Throws for metadata that says that it is of another issuer than the one that was asked. */
function checkIssuer({ issuer, metadata }: Authority): void {
  if (!metadata || isSameIssuer(metadata.issuer, issuer)) return;
  throw new SignInFailure(
    `The metadata published at ${issuer} names ${metadata.issuer} as its issuer, so it is not trusted and no sign-in begins.`,
  );
}

function notEncrypted(issuer: string, address: string): SignInFailure {
  return new SignInFailure(`The authorization server ${issuer} is not encrypted (${address}), so no sign-in begins.`);
}

/** Throws if the authorization server serves only programs: it has no page for a person (RFC 8414 section 2). */
export function checkSignInPage({ issuer, metadata }: Authority): void {
  if (metadata?.authorization_endpoint !== absentEndpoint) return;
  throw new SignInFailure(
    `The authorization server ${issuer} has no page for a person to sign in (no authorization_endpoint). Write oauth with grant: client_credentials, or ask its operator.`,
  );
}

/** Throws where the authorization server cannot take a proof key, without which others could use the code. */
export function checkProofKey({ issuer, metadata }: Authority): void {
  if (!metadata || metadata.code_challenge_methods_supported?.includes('S256')) return;
  throw new SignInFailure(
    `The authorization server ${issuer} does not say that it supports PKCE with S256, which MCP requires.`,
  );
}

/** Throws where the file has a secret of the client and does not say for whom it is. */
export function checkSecretRecipient(oauth: OAuthSettings | undefined, { issuer }: Authority): void {
  if (!oauth?.clientSecret && !oauth?.privateKey) return;
  if (oauth.issuer !== undefined && isSameIssuer(oauth.issuer, issuer)) return;
  throw new SignInFailure(
    `The config file does not say that the client secret is for ${issuer}, so the secret was not sent. If it is, set oauth.issuer to that address.`,
  );
}
