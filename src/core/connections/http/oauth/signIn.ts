/**
 * Signs a person in (X7): the authorization code grant of OAuth 2.1, with a proof key (PKCE) and a
 * redirect to this machine. Invariants: the browser is opened once, and a second time only if the
 * authorization server has forgotten this client; a code is used only if it came back with our
 * state, from the right server. If answers do not name the server, its addresses belong to one site
 * or the person has agreed. Otherwise it could name the page of another server and receive codes of
 * that one.
 */
import { english } from '../../../base/language.js';
import { randomBytes } from 'node:crypto';
import {
  exchangeAuthorization,
  registerClient,
  startAuthorization,
} from '@modelcontextprotocol/sdk/client/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Clock } from '../../../base/clock.js';
import type { HttpLaunch } from '../../../config/model.js';
import { shown } from '../exchange.js';
import {
  checkSignIn,
  namesItself,
  isSameIssuer,
  placeOf,
  placesElsewhere,
  targetOf,
  type Authority,
} from './discovery.js';
import {
  SignInFailure,
  type Redirect,
  type SignInBrowser,
  type SignInParties,
} from './contract.js';
import { coversScopes, granted, joinedScopes, type Kept, type Registration } from './grant.js';
import { errorCode } from './sdk.js';

/** The place of the sign-in, and the client that the person signs in with. */
export interface SignInSubject {
  readonly authority: Authority;
  readonly launch: HttpLaunch;
  readonly registration: Registration | undefined;
  readonly scope: string | undefined;
}

export interface SignInDeps {
  readonly browser: SignInBrowser;
  readonly clock: Clock;
  readonly fetchFn: FetchLike;
  readonly signal: AbortSignal;
  readonly onRegistered: (registration: Registration) => Promise<unknown>;
  readonly onShown: () => void;
}

/** Rejects with `SignInFailure`, with the signal's reason, or with an error of the network. */
export async function signIn(subject: SignInSubject, deps: SignInDeps): Promise<Kept> {
  const { authority, launch, registration } = subject;
  checkSignIn(authority, launch.oauth);
  const parties = partiesOf(subject);
  if (
    parties.elsewhere.length > 0 &&
    !namesItself(authority) &&
    !(await deps.browser.confirm(parties))
  )
    throw new SignInFailure(
      english`You did not agree to sign in at ${parties.page}, so nothing was sent there.`,
    );
  const fixed = launch.oauth?.redirectPort;
  const redirect = await deps.browser
    .waitForReturn(fixed ?? registration?.redirect?.port, fixed !== undefined)
    .catch((error: Error) => {
      throw new SignInFailure(
        english`The redirect address for the browser could not be opened: ${error.message}.`,
      );
    });
  try {
    return await attempt(subject, deps, redirect).catch((error: unknown) => {
      if (!(error instanceof ClientUnknown)) throw error;
      return attempt({ ...subject, registration: undefined }, deps, redirect);
    });
  } catch (error) {
    if (!(error instanceof ClientUnknown)) throw error;
    const { issuer } = authority;
    throw new SignInFailure(
      english`${issuer} does not know the client that it has just registered: ${error.message}`,
    );
  } finally {
    await redirect.close();
  }
}

function partiesOf({ launch, authority }: SignInSubject): SignInParties {
  const { issuer, metadata } = authority;
  return {
    server: shown(new URL(launch.url.value)),
    issuer: placeOf(authority, issuer),
    page: placeOf(authority, metadata?.authorization_endpoint ?? issuer),
    tokens: placeOf(authority, metadata?.token_endpoint ?? issuer),
    elsewhere: placesElsewhere(authority),
  };
}

class ClientUnknown extends Error {}

/** Rejects with `ClientUnknown` if registering another client may help. */
async function attempt(
  subject: SignInSubject,
  deps: SignInDeps,
  redirect: Redirect,
): Promise<Kept> {
  const { authority } = subject;
  const { fetchFn, signal, clock } = deps;
  const { issuer } = authority;
  const scope = scopeOf(subject);
  const registration = await clientFor(subject, deps, redirect, scope);
  const clientUnknown = (why: string): Error =>
    registration.redirect
      ? new ClientUnknown(why)
      : new SignInFailure(english`${issuer} does not accept the client of the config file: ${why}`);
  const state = randomBytes(24).toString('base64url');
  const common = { clientInformation: registration.client, ...targetOf(authority) };
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
    ...common,
    redirectUrl: redirect.url,
    state,
    ...(scope !== undefined && { scope }),
  });
  const answer = redirect.comesBack(state, signal);
  answer.catch(() => undefined);
  await deps.browser.show(authorizationUrl, partiesOf(subject));
  deps.onShown();
  const authorizationCode = codeOf(await answer, authority, clientUnknown);
  try {
    const terms = {
      ...common,
      authorizationCode,
      codeVerifier,
      redirectUri: redirect.url,
      fetchFn,
    };
    const tokens = await exchangeAuthorization(issuer, terms);
    return {
      registration,
      grant: granted(
        {
          authority,
          client: registration.client,
          scope,
          since: clock.now(),
        },
        tokens,
        clock.now(),
      ),
    };
  } catch (error) {
    const refusal = errorCode(error);
    if (refusal === undefined) throw error;
    const why = `${refusal} ${(error as Error).message}`.trim();
    throw isClientUnknown(refusal)
      ? clientUnknown(why)
      : new SignInFailure(english`${issuer} gave no token: ${why}.`);
  }
}

/**
 * The scopes of the file, else those requested by the server, else all its scopes; with the right
 * to stay signed in.
 */
function scopeOf({ launch, scope, authority }: SignInSubject): string | undefined {
  const own = launch.oauth?.scopes ?? [];
  const wanted = joinedScopes(
    own.join(' '),
    own.length > 0 ? undefined : (scope ?? authority.scopes?.join(' ')),
  );
  const stays = authority.metadata?.scopes_supported?.includes('offline_access');
  return own.length === 0 && stays ? joinedScopes(wanted, 'offline_access') : wanted;
}

async function clientFor(
  { authority, launch, registration: earlier }: SignInSubject,
  { fetchFn, onRegistered }: SignInDeps,
  { url: redirectUrl, port }: Redirect,
  scope: string | undefined,
): Promise<Registration> {
  const { issuer, metadata } = authority;
  const { clientId = '', clientSecret } = launch.oauth ?? {};
  const isDocument = /^https:\/\/[^/]+\/./.test(clientId);
  if (
    clientId !== '' &&
    (!isDocument || metadata?.client_id_metadata_document_supported === true)
  ) {
    const client = {
      client_id: clientId,
      ...(clientSecret && { client_secret: clientSecret.value }),
    };
    return {
      issuer,
      client,
      redirect: undefined,
      scope: undefined,
    };
  }
  const fits = earlier?.issuer === issuer && earlier.redirect?.url === redirectUrl;
  if (fits && coversScopes(earlier.scope, scope)) return earlier;
  if (metadata && metadata.registration_endpoint === undefined) {
    throw new SignInFailure(
      english`${issuer} does not register clients automatically. Register one there with the redirect address ${redirectUrl}, and write its id as oauth.clientId.`,
    );
  }
  const supported = metadata?.token_endpoint_auth_methods_supported;
  const clientMetadata = {
    client_name: 'MCP Toolsets',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method:
      methods.find((method) => supported?.includes(method) ?? true) ?? 'none',
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
    throw new SignInFailure(
      english`${issuer} did not register this client: ${`${code} ${(error as Error).message}`.trim()}`.trim(),
    );
  });
  const registration = {
    issuer,
    client,
    redirect: { url: redirectUrl, port },
    scope,
  };
  await onRegistered(registration);
  return registration;
}

/** In the order of preference: a program on a person's machine keeps no secret of its maker. */
const methods = ['none', 'client_secret_basic', 'client_secret_post'];

/**
 * Reads the authorization response of RFC 6749 section 4.1.2, and checks its issuer as RFC 9207
 * says.
 */
function codeOf(
  parameters: URLSearchParams,
  authority: Authority,
  clientUnknown: (why: string) => Error,
): string {
  const { issuer, metadata } = authority;
  const from = parameters.get('iss');
  if (from !== null || namesItself(authority)) {
    // Its metadata has the name to the letter. Any other name belongs to another server.
    if (from === null || (metadata ? from !== metadata.issuer : !isSameIssuer(from, issuer))) {
      throw new SignInFailure(
        english`The browser returned an answer that is not from ${issuer}, where the sign-in began, so the sign-in was stopped.`,
      );
    }
  }
  const error = parameters.get('error');
  if (error !== null) {
    const why = [error, parameters.get('error_description')]
      .filter((part) => part !== null)
      .join(': ');
    if (isClientUnknown(error)) throw clientUnknown(why);
    const isDenied = error === 'access_denied';
    throw new SignInFailure(
      isDenied
        ? english`The sign-in was refused (${why}).`
        : english`${issuer} did not sign you in: ${why}.`,
    );
  }
  const code = parameters.get('code');
  if (code === null)
    throw new SignInFailure(english`${issuer} sent the browser back without a code.`);
  return code;
}

function isClientUnknown(code: string): boolean {
  return code === 'invalid_client' || code === 'unauthorized_client';
}
