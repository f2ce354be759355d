/**
 * Finds the authorization server of a resource (RFC 9728, RFC 8414, OpenID Connect Discovery), with
 * the fallbacks of protocol 2025-03-26. Invariants: until a person acts, only the server's origin
 * and the issuer approved in the file get requests; all requests are encrypted, except from a
 * server on this machine to this machine; metadata counts only for the issuer of its address (RFC
 * 8414 section 3.3).
 */
import { english } from '../../../base/language.js';
import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/sdk/client/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { isLoopback } from '../../../base/loopback.js';
import { clipped } from '../../../base/text.js';
import type { OAuthSettings } from '../../../config/model.js';
import { shown } from '../exchange.js';
import { SignInFailure } from './contract.js';
import { absentEndpoint } from './answers.js';

export interface Authority {
  /** The issuer as the server names it; a registration is bound to it. */
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
  /**
   * The resource indicator (RFC 8707) in the server's own spelling; absent if it publishes no
   * metadata.
   */
  readonly resource: string | undefined;
  readonly scopes: readonly string[] | undefined;
}

export function targetOf(authority: Authority): {
  metadata?: AuthorizationServerMetadata;
  resource?: string;
} {
  const { metadata, resource } = authority;
  return { ...(metadata && { metadata }), ...(resource !== undefined && { resource }) };
}

interface Discovery {
  readonly server: URL;
  /**
   * The address in the server's challenge; if nothing is there, the well-known addresses are tried.
   */
  readonly metadataUrl: URL | undefined;
  readonly issuer: string | undefined;
  readonly byPerson: boolean;
  readonly fetchFn: FetchLike;
}

export async function discover(discovery: Discovery): Promise<Authority> {
  const server = new URL(discovery.server);
  server.username = '';
  server.password = '';
  server.hash = '';
  const resource = await resourceMetadata(server, discovery);
  const offered = resource?.authorization_servers ?? [];
  const issuers = offered.length > 0 ? offered : [String(new URL('/', server))];
  const issuer = issuerIn(issuers, server, discovery);
  const scopes = resource?.scopes_supported;
  const authority = {
    issuer,
    metadata: undefined,
    resource: resource?.resource,
    scopes,
  };
  if (!URL.canParse(issuer) || !mayAsk(new URL(issuer), discovery)) {
    if (discovery.byPerson) throw notEncrypted(issuer, issuer);
    return authority;
  }
  const { fetchFn } = discovery;
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
  const found = { ...authority, metadata };
  const isOfServer =
    metadata && URL.canParse(metadata.issuer) && new URL(metadata.issuer).origin === server.origin;
  // In 2025-03-26 a server had its metadata at the root of its origin, whatever the path of its
  // issuer.
  if (isOfServer && offered.length === 0) return { ...found, issuer: metadata.issuer };
  checkIssuer(found);
  return found;
}

/** Resolves to undefined if the server publishes none. */
async function resourceMetadata(
  server: URL,
  discovery: Discovery,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const { metadataUrl, fetchFn } = discovery;
  const find = (url?: URL) =>
    discoverOAuthProtectedResourceMetadata(
      server,
      url && { resourceMetadataUrl: url },
      fetchFn,
    ).catch(() => undefined);
  const named = metadataUrl && mayAsk(metadataUrl, discovery) ? await find(metadataUrl) : undefined;
  const found = named ?? (await find());
  if (!found || isSameResource(found.resource, server)) return found;
  const { resource } = found;
  const place = placeOfParent(resource, server);
  const ofParent = place && (await find(place));
  if (ofParent?.resource === resource) return ofParent;
  throw new SignInFailure(
    english`The metadata of ${shown(server)} is for another resource, ${resource}, so no token is requested.`,
    'Write the address of the resource as url if you mean that server; otherwise ask who runs the server to correct its metadata.',
  );
}

function issuerIn(issuers: readonly string[], server: URL, { issuer: wanted }: Discovery): string {
  const issuer =
    wanted === undefined ? issuers[0] : issuers.find((one) => isSameIssuer(one, wanted));
  if (issuer !== undefined) return issuer;
  throw new SignInFailure(
    english`${shown(server)} asks for a sign-in at ${issuers[0] ?? ''}, but the config file names ${wanted ?? ''}, so no sign-in begins.`,
  );
}

function isSameResource(resource: string, server: URL): boolean {
  const one = new URL(resource);
  const other = new URL(server);
  for (const url of [one, other]) url.pathname = url.pathname.replace(/\/$/, '');
  return one.href === other.href;
}

/**
 * A token for the parent is good at the server's neighbours, so the parent must name its
 * authorization server.
 */
function placeOfParent(resource: string, { origin, pathname }: URL): URL | undefined {
  const parent = new URL(resource);
  const path = parent.pathname.replace(/\/$/, '');
  if (parent.href !== `${origin}${parent.pathname}` || !`${pathname}/`.startsWith(`${path}/`))
    return undefined;
  return new URL(`/.well-known/oauth-protected-resource${path}`, origin);
}

function mayAsk(url: URL, { server, issuer, byPerson }: Discovery): boolean {
  if (url.origin === server.origin) return true;
  if (issuer !== undefined && url.origin === new URL(issuer).origin) return true;
  // A remote server must not make us send requests to programs on this machine.
  if (isLoopback(url.hostname)) return byPerson && isLoopback(server.hostname);
  return byPerson && url.protocol === 'https:';
}

/**
 * True if two addresses differ at most by a slash at the end, because resource metadata may have or
 * lack it.
 */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

export function checkAuthority(authority: Authority): void {
  const { issuer, metadata } = authority;
  checkIssuer(authority);
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata ?? {};
  const addresses = metadata
    ? [authorization_endpoint, token_endpoint, registration_endpoint]
    : [issuer];
  for (const address of addresses) {
    if (address !== undefined && address !== absentEndpoint) checkAddress(authority, address);
  }
}

/** True if each answer from the browser must name the authorization server (RFC 9207). */
export function namesItself({ metadata }: Authority): boolean {
  const says = metadata && 'authorization_response_iss_parameter_supported' in metadata;
  return says === true && metadata.authorization_response_iss_parameter_supported === true;
}

/**
 * Returns the addresses that may belong to others than the issuer: hosts above or beside its host,
 * and other paths of its origin if the issuer has a path.
 */
export function placesElsewhere(authority: Authority): string[] {
  const { issuer, metadata } = authority;
  const { authorization_endpoint, token_endpoint, registration_endpoint, ...others } =
    metadata ?? {};
  const revocation = 'revocation_endpoint' in others ? others.revocation_endpoint : undefined;
  const named = [authorization_endpoint, token_endpoint, registration_endpoint, revocation];
  const assumed = ['/authorize', '/token', '/register'].map((one) => new URL(one, issuer).href);
  const urls = (metadata ? named : assumed)
    .filter(
      (one): one is string =>
        typeof one === 'string' && one !== absentEndpoint && URL.canParse(one),
    )
    .map((one) => new URL(one));
  const site = new URL(issuer);
  const base = basePath(site);
  const isOfSite = ({ origin, pathname, protocol }: URL): boolean => {
    if (origin !== site.origin)
      return (
        origin.endsWith(`.${site.host}`) && protocol === 'https:' && site.protocol === 'https:'
      );
    return base === '' || (`${pathname}/`.startsWith(`${base}/`) && !ambiguousPath.test(pathname));
  };
  return [
    ...new Set(urls.filter((url) => !isOfSite(url)).map(({ href }) => placeOf(authority, href))),
  ];
}

/**
 * Returns the address as a person compares it with the issuer: its origin, and its path if the
 * issuer has one.
 */
export function placeOf({ issuer }: Authority, address: string): string {
  const { origin, pathname } = new URL(address);
  return basePath(new URL(issuer)) === '' ? origin : clipped(origin + pathname, 200);
}

/**
 * Entra ID has the version of its protocol behind the tenant, and all addresses below the tenant.
 */
function basePath({ pathname }: URL): string {
  return pathname.replace(/^(\/[\da-f-]{36})\/v2\.0\/?$/i, '$1').replace(/\/$/, '');
}

/** Some servers read these as steps in a path. */
const ambiguousPath = /%(?:2f|5c|25)|\/\.\.?;/i;

/**
 * Throws if a message to an address could be read on the way, or a stranger directs it to this
 * machine.
 */
export function checkAddress({ issuer }: Authority, target: string): void {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  const isHere = url !== undefined && isLoopback(url.hostname);
  if (isHere && (!URL.canParse(issuer) || !isLoopback(new URL(issuer).hostname))) {
    throw new SignInFailure(
      english`The authorization server ${issuer} names a local address (${target}): no sign-in begins.`,
    );
  }
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere)) return;
  throw notEncrypted(issuer, target);
}

function checkIssuer({ issuer, metadata }: Authority): void {
  if (!metadata || isSameIssuer(metadata.issuer, issuer)) return;
  throw new SignInFailure(
    english`The metadata published at ${issuer} names ${metadata.issuer} as its issuer, so it is not trusted and no sign-in begins.`,
  );
}

function notEncrypted(issuer: string, address: string): SignInFailure {
  return new SignInFailure(
    english`The authorization server ${issuer} is not encrypted (${address}), so no sign-in begins.`,
  );
}

/**
 * Throws if no person may sign in there: it serves only programs, or takes no proof key, so others
 * could use the code.
 */
export function checkSignIn(authority: Authority, oauth: OAuthSettings | undefined): void {
  checkAuthority(authority);
  const { issuer, metadata } = authority;
  if (metadata?.authorization_endpoint === absentEndpoint)
    throw new SignInFailure(
      english`The authorization server ${issuer} has no page for a person to sign in (no authorization_endpoint). Write oauth with grant: client_credentials, or ask its operator.`,
    );
  if (metadata && !metadata.code_challenge_methods_supported?.includes('S256'))
    throw new SignInFailure(
      english`The authorization server ${issuer} does not say that it supports PKCE with S256, which MCP requires.`,
    );
  checkSecretRecipient(oauth, authority);
}

/** Throws if the file has a secret of the client without its issuer. */
export function checkSecretRecipient(
  oauth: OAuthSettings | undefined,
  { issuer }: Authority,
): void {
  if (!oauth?.clientSecret && !oauth?.privateKey) return;
  if (oauth.issuer !== undefined && isSameIssuer(oauth.issuer, issuer)) return;
  throw new SignInFailure(
    english`The config file does not say that the client secret is for ${issuer}, so the secret was not sent. If it is, set oauth.issuer to that address.`,
  );
}
