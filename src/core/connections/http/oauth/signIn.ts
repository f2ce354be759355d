/**
 * Signs a person in (X7): the authorization code grant of OAuth 2.1, with a proof key (PKCE) and a redirect to this
 * machine. The client's id comes from the file or from an earlier sign-in, or is registered now.
 *
 * Invariants: the browser is opened once, and a second time only if the authorization server has forgotten this
 * client; a code is used only if it came back with our state, from the right server. If answers do not name the
 * server, its addresses belong to one site or the person has agreed. Otherwise it could name the page of another
 * server and receive codes of that one.
 */
import { randomBytes } from 'node:crypto';
import { exchangeAuthorization, registerClient, startAuthorization } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Clock } from '../../../base/clock.js';
import type { HttpLaunch } from '../../../config/model.js';
import { shown } from '../exchange.js';
import {
  checkSignIn,
  isNamedInAnswers,
  isSameIssuer,
  originsElsewhere,
  targetOf,
  type Authority,
} from './discovery.js';
import { SignInFailure, type Redirect, type SignInBrowser, type SignInParties } from './contract.js';
import { coversScopes, granted, joinedScopes, type Kept, type Registration } from './grant.js';
import { errorCode } from './sdk.js';

interface SignInDeps {
  readonly authority: Authority;
  readonly launch: HttpLaunch;
  readonly browser: SignInBrowser;
  readonly clock: Clock;
  readonly registration: Registration | undefined;
  readonly scope: string | undefined;
  readonly fetchFn: FetchLike;
  readonly signal: AbortSignal;
  readonly onRegistered: (registration: Registration) => Promise<void>;
  readonly onShown: () => void;
}

/** Rejects with `SignInFailure`, with the signal's reason, or with an error of the network. */
export async function signIn(deps: SignInDeps): Promise<Kept> {
  const { authority, launch, registration } = deps;
  checkSignIn(authority, launch.oauth);
  const parties = partiesOf(deps);
  if (parties.elsewhere.length > 0 && !isNamedInAnswers(authority) && !(await deps.browser.confirm(parties))) {
    throw new SignInFailure(`You did not agree to sign in at ${parties.page}, so nothing was sent there.`);
  }
  const fixed = launch.oauth?.redirectPort;
  const redirect = await deps.browser
    .waitForReturn(fixed ?? registration?.redirect?.port, fixed !== undefined)
    .catch((error: Error) => {
      throw new SignInFailure(`The redirect address for the browser could not be opened: ${error.message}.`);
    });
  try {
    const known = await attempt(deps, redirect, registration);
    if (known.kind === 'signedIn') return known.kept;
    if (known.isGiven)
      throw new SignInFailure(`${authority.issuer} does not accept the client of the config file: ${known.why}`);
    const anew = await attempt(deps, redirect, undefined);
    if (anew.kind === 'signedIn') return anew.kept;
    throw new SignInFailure(`${authority.issuer} does not know the client that it has just registered: ${anew.why}`);
  } finally {
    await redirect.close();
  }
}

function partiesOf({ launch, authority }: SignInDeps): SignInParties {
  const { issuer, metadata } = authority;
  return {
    server: shown(new URL(launch.url)),
    issuer: new URL(issuer).origin,
    page: new URL(metadata?.authorization_endpoint ?? issuer).origin,
    tokens: new URL(metadata?.token_endpoint ?? issuer).origin,
    elsewhere: originsElsewhere(authority),
  };
}

type Attempt =
  | { readonly kind: 'signedIn'; readonly kept: Kept }
  /** `isGiven`: the file names the client, so registering another would not help. */
  | { readonly kind: 'clientUnknown'; readonly why: string; readonly isGiven: boolean };

async function attempt(deps: SignInDeps, redirect: Redirect, earlier: Registration | undefined): Promise<Attempt> {
  const { authority, fetchFn, signal, clock } = deps;
  const { issuer } = authority;
  const redirectUrl = redirect.url;
  const scope = scopeOf(deps);
  const registration = await clientFor(deps, redirectUrl, redirect.port, scope, earlier);
  const clientInformation = registration.client;
  const state = randomBytes(24).toString('base64url');
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
    clientInformation,
    redirectUrl,
    state,
    ...targetOf(authority),
    ...(scope !== undefined && { scope }),
  });
  const answer = redirect.comesBack(state, signal);
  answer.catch(() => undefined);
  await deps.browser.show(authorizationUrl, partiesOf(deps));
  deps.onShown();
  const code = codeOf(await answer, authority);
  const isGiven = registration.redirect === undefined;
  if (code.kind === 'clientUnknown') return { ...code, isGiven };
  try {
    const tokens = await exchangeAuthorization(issuer, {
      clientInformation,
      authorizationCode: code.code,
      codeVerifier,
      redirectUri: redirectUrl,
      fetchFn,
      ...targetOf(authority),
    });
    const grant = granted({ authority, client: registration.client, scope }, tokens, clock.now());
    return { kind: 'signedIn', kept: { registration, grant } };
  } catch (error) {
    const refusal = errorCode(error);
    if (refusal === undefined) throw error;
    const why = `${refusal} ${(error as Error).message}`.trim();
    if (isClientUnknown(refusal)) return { kind: 'clientUnknown', why, isGiven };
    throw new SignInFailure(`${issuer} gave no token: ${why}.`);
  }
}

/** The scopes of the file, else those requested by the server, else all its scopes; with the right to stay signed in. */
function scopeOf({ launch, scope, authority }: SignInDeps): string | undefined {
  const own = launch.oauth?.scopes ?? [];
  const wanted = joinedScopes(own.join(' '), own.length > 0 ? undefined : (scope ?? authority.scopes?.join(' ')));
  const stays = authority.metadata?.scopes_supported?.includes('offline_access');
  return own.length === 0 && stays ? joinedScopes(wanted, 'offline_access') : wanted;
}

async function clientFor(
  { authority, launch, fetchFn, onRegistered }: SignInDeps,
  redirectUrl: string,
  port: number | undefined,
  scope: string | undefined,
  earlier: Registration | undefined,
): Promise<Registration> {
  const { issuer, metadata } = authority;
  const { clientId = '', clientSecret } = launch.oauth ?? {};
  const given = (client: OAuthClientInformationMixed): Registration => ({
    issuer,
    client,
    redirect: undefined,
    scope: undefined,
  });
  const isDocument = /^https:\/\/[^/]+\/./.test(clientId);
  if (clientId !== '' && (!isDocument || metadata?.client_id_metadata_document_supported === true)) {
    return given({ client_id: clientId, ...(clientSecret && { client_secret: clientSecret.value }) });
  }
  const fits = earlier?.issuer === issuer && earlier.redirect?.url === redirectUrl;
  if (fits && coversScopes(earlier.scope, scope)) return earlier;
  if (metadata && metadata.registration_endpoint === undefined) {
    throw new SignInFailure(
      `${issuer} does not register clients automatically. Register one there with the redirect address ${redirectUrl}, and write its id as oauth.clientId.`,
    );
  }
  const supported = metadata?.token_endpoint_auth_methods_supported;
  const clientMetadata = {
    client_name: 'MCP Toolsets',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: methods.find((method) => supported?.includes(method) ?? true) ?? 'none',
    ...(new URL(redirectUrl).protocol === 'http:' && { application_type: 'native' }),
  };
  const client = await registerClient(issuer, {
    clientMetadata,
    fetchFn,
    ...(metadata && { metadata }),
    ...(scope !== undefined && { scope }),
  }).catch((error: unknown) => {
    const code = errorCode(error);
    if (code === undefined) throw error;
    throw new SignInFailure(`${issuer} did not register this client: ${code} ${(error as Error).message}`.trim());
  });
  const registration = { issuer, client, redirect: { url: redirectUrl, port }, scope };
  await onRegistered(registration);
  return registration;
}

/** In the order of preference: a program on a person's machine keeps no secret of its maker. */
const methods = ['none', 'client_secret_basic', 'client_secret_post'];

type Code = { readonly kind: 'code'; readonly code: string } | { readonly kind: 'clientUnknown'; readonly why: string };

/** Reads the authorization response of RFC 6749 section 4.1.2, and checks its issuer as RFC 9207 says. */
function codeOf(parameters: URLSearchParams, authority: Authority): Code {
  const { issuer, metadata } = authority;
  const from = parameters.get('iss');
  if (from !== null || isNamedInAnswers(authority)) {
    // Its metadata has the name to the letter. Any other name belongs to another server.
    if (from === null || (metadata ? from !== metadata.issuer : !isSameIssuer(from, issuer))) {
      throw new SignInFailure(
        `The browser returned an answer that is not from ${issuer}, where the sign-in began, so the sign-in was stopped.`,
      );
    }
  }
  const error = parameters.get('error');
  if (error !== null) {
    const why = [error, parameters.get('error_description')].filter((part) => part !== null).join(': ');
    if (isClientUnknown(error)) return { kind: 'clientUnknown', why };
    throw new SignInFailure(
      error === 'access_denied' ? `The sign-in was refused (${why}).` : `${issuer} did not sign you in: ${why}.`,
    );
  }
  const code = parameters.get('code');
  if (code === null) throw new SignInFailure(`${issuer} sent the browser back without a code.`);
  return { kind: 'code', code };
}

function isClientUnknown(code: string): boolean {
  return code === 'invalid_client' || code === 'unauthorized_client';
}
