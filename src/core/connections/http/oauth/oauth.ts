/**
 * Signs in to HTTP servers (X7) without loading the SDK. Invariants: only `signIn` opens a browser,
 * and only a person's action calls it; a configured `Authorization` header excludes OAuth; secrets
 * go to `keepSecret` before use.
 */
import { english } from '../../../base/language.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { delay, limited, type Clock } from '../../../base/clock.js';
import { asText } from '../../../base/text.js';
import { Emitter } from '../../../base/events.js';
import { signInCommand } from '../../../base/signInCommand.js';
import { printerOf } from '../../../config/launchValues.js';
import type { HttpLaunch, Launch } from '../../../config/model.js';
import { directAgents, type HttpAgents, type MakeAgents } from '../agents.js';
import type { FetchAgain, HttpAccess, Refusal, Verdict } from '../endpoint.js';
import {
  discard,
  exchange,
  inShort,
  isForNow,
  readText,
  shown,
  wordsIn,
  type HttpExchange,
  type HttpReply,
} from '../exchange.js';
import { askAgain, longestPauseMs, pauseMs } from '../refusals.js';
import type { Authority } from './discovery.js';
import {
  SignInFailure,
  type SignInBrowser,
  type SignIns,
  type SignInStatus,
  type SignInStore,
} from './contract.js';
import { readableAnswer, whatCameForToken } from './answers.js';
import {
  coversScopes,
  grantKey,
  isStale,
  joinedScopes,
  tokenOf,
  withoutGrant,
  type Grant,
  type Kept,
} from './grant.js';
import { KeptSignIn, silent, type KeptSignInDeps } from './keptSignIn.js';
import type { Renewal } from './renewal.js';

interface OAuthDeps extends Omit<KeptSignInDeps, 'key' | 'onTokenChanged'> {
  readonly secrets: SignInStore;
  readonly clientVersion: string;
  readonly agents?: MakeAgents;
}

/**
 * There is one for all servers of a window: servers with one address and one client have one
 * sign-in.
 */
export class OAuth implements SignIns {
  private readonly changes = new Emitter<void>();
  private readonly accesses = new Map<string, OAuthAccess>();
  private readonly subscription: { dispose(): unknown };

  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: OAuthDeps) {
    this.subscription = deps.secrets.onDidChange(
      ({ key }) => void this.accesses.get(key)?.kept.reread(),
    );
  }

  /**
   * Returns undefined if the file itself has the credentials. @param launch with the output of its
   * programs
   */
  accessFor(launch: HttpLaunch, fetchAgain?: FetchAgain): OAuthAccess | undefined {
    const access = this.accessOf(launch);
    // The address and the client are the same; its secret may be another one.
    if (access) Object.assign(access, { launch, fetchAgain });
    return access;
  }

  statusOf(launch: Launch): SignInStatus {
    return (
      (launch.transport === 'streamable_http' && this.accessOf(launch)?.status) || { kind: 'none' }
    );
  }

  async signIn(launch: Launch, browser: SignInBrowser, signal: AbortSignal): Promise<void> {
    const access = this.wanted(launch);
    if (isIncomplete(access.launch))
      throw new SignInFailure(
        'A program prints a value of `oauth` when the server starts. Start the server first.',
      );
    await access.signIn(browser, signal);
  }

  async signOut(launch: Launch): Promise<void> {
    await this.wanted(launch).signOut();
  }

  dispose(): void {
    this.subscription.dispose();
    this.changes.dispose();
    for (const access of this.accesses.values()) access.dispose();
  }

  private accessOf(launch: HttpLaunch): OAuthAccess | undefined {
    if ([...launch.headers.keys()].some((name) => name.toLowerCase() === 'authorization'))
      return undefined;
    // The output of a program is known when the server starts.
    if (!URL.canParse(launch.url.value)) return undefined;
    const key = grantKey(launch);
    const known = this.accesses.get(key);
    if (known) return known;
    const access = new OAuthAccess({
      ...this.deps,
      launch,
      key,
      onChange: () => this.changes.fire(),
    });
    this.accesses.set(key, access);
    return access;
  }

  private wanted(launch: Launch): OAuthAccess {
    const access = launch.transport === 'streamable_http' ? this.accessOf(launch) : undefined;
    if (access) return access;
    throw new SignInFailure(
      launch.transport === 'stdio'
        ? 'A server with the transport `stdio` has no sign-in.'
        : launch.url.value === ''
          ? 'Sign-in is not possible, because the address of this server comes from a program.'
          : 'The config file has an Authorization header for this server, which replaces the sign-in.',
    );
  }
}

function isIncomplete({ oauth }: HttpLaunch): boolean {
  return [oauth?.clientSecret, oauth?.privateKey].some(
    (value) => value && printerOf(value) && value.value === '',
  );
}

interface OAuthAccessDeps extends OAuthDeps {
  readonly launch: HttpLaunch;
  readonly key: string;
  readonly onChange: () => void;
}

const nobody = 'Nobody has signed in yet.';
const ended = 'The sign-in has ended: its token has expired or was revoked.';
const lostAnswer =
  'The sign-in has ended: a renewal of its token was interrupted, and the authorization server takes a second one for a theft.';
const unnamed = 'more than was granted';
const renewalLimitMs = 30_000;
const signInLimitMs = 10 * 60_000;

const scopesFix =
  'Add them to `scopes` under `oauth`, and let the authorization server grant them to this client.';
const programFix =
  'Check clientId, clientSecret or privateKey, issuer and scopes under oauth. A browser does not help, because a program signs in.';

/**
 * The right to use one HTTP server. Invariants: of all processes, one renews a token at a time, and
 * never with tokens already renewed by another; its outcome changes nothing if the sign-in has another
 * token now; a token refused for good is forgotten; the status changes before waiting requests go
 * on.
 */
export class OAuthAccess implements HttpAccess {
  readonly kept: KeptSignIn;
  status: SignInStatus = { kind: 'none' };
  /** The newest refusal of the server says how to sign in. */
  private challenge: Challenge = readChallenge(undefined);
  /**
   * Scopes wanted beyond the grant; the server need not name them. They stay until a sign-in, even
   * if the token ends before.
   */
  private lacking: { readonly scope: string | undefined } | undefined;
  /**
   * The last sign-in did not come back: the authorization server may have forgotten this client.
   */
  private registrationDoubted = false;
  private renewing: Promise<void> | undefined;
  /** Aborts a renewal when the sign-in has another token. */
  private overtaken = new AbortController();
  private endedBecause = ended;
  /** The token that this process got last. */
  private newest: string | undefined;
  private readonly ending = new AbortController();
  private readonly agents: HttpAgents;
  launch: HttpLaunch;
  fetchAgain: FetchAgain | undefined;

  constructor(private readonly deps: OAuthAccessDeps) {
    this.launch = deps.launch;
    this.agents = (deps.agents ?? directAgents)({});
    this.kept = new KeptSignIn({
      ...deps,
      onTokenChanged: (isElsewhere) => this.followToken(isElsewhere),
    });
  }

  /** Resolves to the present token. It may have ended; then the server says so. */
  async token(): Promise<string | undefined> {
    await this.kept.ready();
    const { grant } = this.kept.value;
    if (grant?.tokens.refresh_token !== undefined && isStale(grant, this.deps.clock.now()))
      await this.renewOnce(grant.tokens.access_token).catch(() => undefined);
    return this.kept.token;
  }

  async refused(reply: Refusal, used: string | undefined, again: boolean): Promise<Verdict> {
    const challenge = readChallenge(reply.header);
    const metadataUrl = challenge.metadataUrl ?? this.challenge.metadataUrl;
    if (reply.status === 403) {
      this.challenge = { ...this.challenge, metadataUrl };
      // A person may have granted more in another process.
      if (challenge.error === 'insufficient_scope') await this.kept.reread();
      return this.lacks(challenge, used, again);
    }
    this.challenge = { ...challenge, metadataUrl };
    if (this.hasOther(used)) return { kind: 'renewed' };
    const { issuer } = this.kept.value.grant?.authority ?? {};
    // A token that another process got may have ended since.
    const isOwn = used === this.newest || this.isProgram;
    if (again && isOwn)
      return this.need(english`The server refuses the new token of ${String(issuer)} too.`, used);
    const cause = await this.whyNotRenewed(used);
    // A person may have signed in since.
    if (this.hasOther(used)) return { kind: 'renewed' };
    if (cause === undefined) return { kind: 'other' };
    if (typeof cause === 'string') return this.need(cause, used);
    if (cause instanceof SignInFailure) return this.need(cause.message, used, cause.fix);
    return { kind: 'notRenewed', why: cause.message };
  }

  async signIn(browser: SignInBrowser, signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    await this.kept.reread();
    const over = AbortSignal.any([signal, this.ending.signal]);
    const late = new Error('The sign-in took too long.');
    const sign = async (limit: AbortSignal): Promise<Kept> => {
      const authority = await this.discovered(limit, true);
      const { signIn } = await import('./signIn.js');
      const registration = this.registrationDoubted ? undefined : this.kept.value.registration;
      const subject = {
        authority,
        launch: this.launch,
        registration,
        scope: this.wantedScope(authority),
      };
      return await signIn(subject, {
        browser,
        clock,
        fetchFn: this.fetchFor(limit),
        signal: limit,
        onRegistered: (registration) => this.change((kept) => ({ ...kept, registration })),
        onShown: () => {
          this.registrationDoubted = true;
        },
      });
    };
    const signedIn = await limited(clock, signInLimitMs, over, sign, late);
    this.registrationDoubted = false;
    this.newest = tokenOf(signedIn);
    await this.change(() => {
      this.lacking = undefined;
      return signedIn;
    });
  }

  async signOut(): Promise<void> {
    const { grant } = await this.change(withoutGrant);
    this.lacking = undefined;
    this.lack('You signed out.', {});
    const { unreadable } = this.kept;
    if (grant) await this.revoke(grant);
    else if (unreadable !== undefined) this.warnOfTokens(unreadable);
  }

  dispose(): void {
    this.ending.abort();
    this.agents.destroy();
    this.kept.dispose();
  }

  private get isProgram(): boolean {
    return this.launch.oauth?.grant === 'client_credentials';
  }

  private hasOther(used: string | undefined): boolean {
    return this.kept.token !== undefined && this.kept.token !== used;
  }

  private lacks({ error, scope }: Challenge, used: string | undefined, again: boolean): Verdict {
    if (used === undefined || error !== 'insufficient_scope') return { kind: 'other' };
    if (!again && this.hasOther(used)) return { kind: 'renewed' };
    if (this.kept.value.grant) {
      this.lacking = { scope: joinedScopes(this.lacking?.scope, scope) };
      this.becomeSignedIn();
      this.noteLacking();
    }
    const why = english`This request needs more rights: ${scope ?? unnamed}.`;
    if (this.isProgram) return { kind: 'signIn', why, fix: scopesFix };
    const how = english`Sign in again to grant them, outside the editor with ${signInCommand}.`;
    return { kind: 'signIn', why: english`${why} ${how}` };
  }

  /** The next sign-in may be in another process. */
  private noteLacking(): void {
    const lacks = this.lacking?.scope ?? '';
    const isNoted = this.kept.value.lacks === lacks;
    if (this.isProgram || isNoted) return;
    void this.change((kept) => (kept.grant ? { ...kept, lacks } : kept)).catch(() => undefined);
  }

  /** @param key for a renewal, or for a change in the store, which takes no time */
  private exclusively<T>(key: string, work: () => Promise<T>): Promise<T> {
    // Every program gets its own token.
    return this.isProgram ? work() : this.deps.secrets.exclusively(key, work);
  }

  /** Resolves to what the store had. No other process changes it between reading and writing. */
  private change(edit: (kept: Kept) => Kept): Promise<Kept> {
    return this.exclusively(`${this.deps.key}.change`, async () => {
      await this.kept.reread();
      const before = this.kept.value;
      const after = edit(before);
      if (after !== before) await this.kept.keep(after);
      return before;
    });
  }

  private wantedScope({ scopes }: Authority): string | undefined {
    if (!this.lacking) return this.challenge.scope;
    const all = scopes?.join(' ');
    return joinedScopes(
      this.kept.value.grant?.scope ?? this.challenge.scope ?? all,
      this.lacking.scope ?? all,
    );
  }

  /** Tries to renew. Resolves to undefined also if the server does not ask for OAuth. */
  private async whyNotRenewed(used: string | undefined): Promise<Error | string | undefined> {
    try {
      await this.renewOnce(used);
    } catch (error) {
      return error as Error;
    }
    if (this.status.kind === 'needed') return this.status.why;
    return used === undefined ? await this.advertised() : ended;
  }

  private async need(why: string, used: string | undefined, fix?: string): Promise<Verdict> {
    await this.kept.reread();
    if (this.kept.value.grant)
      await this.change((kept) => (tokenOf(kept) === used ? withoutGrant(kept) : kept));
    const known = fix ?? (this.isProgram ? programFix : undefined);
    const more = known === undefined ? {} : { fix: known };
    this.lack(why, more);
    return {
      kind: 'signIn',
      why,
      ...more,
    };
  }

  /** Afterwards there is another token than `used`, unless only a person can get one. */
  private renewOnce(used: string | undefined): Promise<void> {
    if (this.renewing) return this.renewing;
    const renewing = this.exclusively(this.deps.key, () => this.renew(used)).finally(() => {
      if (this.renewing === renewing) this.renewing = undefined;
    });
    this.renewing = renewing;
    return renewing;
  }

  private async renew(used: string | undefined): Promise<void> {
    const isRead = await this.kept.reread();
    if (this.hasOther(used)) return;
    const { grant, isRenewing: isAgain } = this.kept.value;
    const hasRefresh = grant?.tokens.refresh_token !== undefined;
    if (hasRefresh && !this.isProgram) {
      // Another process may have used up this refresh token.
      if (!isRead) throw new Error(silent);
      await this.change((kept) => (tokenOf(kept) === used ? { ...kept, isRenewing: true } : kept));
    }
    this.overtaken = new AbortController();
    const over = AbortSignal.any([this.ending.signal, this.overtaken.signal]);
    const renewal = await limited(this.deps.clock, renewalLimitMs, over, (signal) =>
      this.renewal(grant, signal),
    );
    if (!renewal) return;
    await this.settle(grant, renewal, isAgain === true);
  }

  /** @param isAgain the answer to an earlier renewal of the same token was lost */
  private async settle(
    grant: Grant | undefined,
    renewal: Renewal,
    isAgain: boolean,
  ): Promise<void> {
    const { host } = new URL(this.launch.url.value);
    const isRenewed = renewal.kind === 'renewed';
    this.deps.log.write(
      isRenewed ? 'debug' : 'info',
      `[oauth] the token of ${host} was ${isRenewed ? 'renewed' : `not renewed: ${renewal.why}`}`,
    );
    const { grant: found } = await this.change((kept) => {
      if (tokenOf(kept) !== grant?.tokens.access_token) return kept;
      const { registration, lacks } = kept;
      if (isRenewed) {
        this.newest = renewal.grant.tokens.access_token;
        return { registration, grant: renewal.grant, lacks };
      }
      this.endedBecause = isAgain ? lostAnswer : ended;
      const isItsClient = registration?.client.client_id === grant?.client?.client_id;
      const isUnknown = renewal.clientUnknown && isItsClient;
      return { registration: isUnknown ? undefined : registration, grant: undefined };
    });
    // A person signing out in the meantime meant these tokens too. Tokens replaced by a sign-in end
    // without help.
    if (isRenewed && grant && !found) await this.revoke(renewal.grant);
  }

  private async renewal(
    grant: Grant | undefined,
    signal: AbortSignal,
  ): Promise<Renewal | undefined> {
    const { clock } = this.deps;
    const fetchFn = this.fetchFor(signal);
    const { programGrant, renewed } = await import('./renewal.js');
    const { loadOAuthSdk } = await import('./sdk.js');
    if (this.isProgram) {
      const authority = await this.discovered(signal, false);
      const scope = this.wantedScope(authority);
      const get = (): Promise<Grant> =>
        programGrant({ authority, launch: this.launch, scope }, { fetchFn, clock });
      const grant = await get().catch(async (error: unknown) => {
        // The program of the secret may print another one now.
        const fetched = error instanceof SignInFailure && (await this.fetchAgain?.(signal));
        if (typeof fetched !== 'object') throw error;
        this.launch = fetched;
        return await get();
      });
      return { kind: 'renewed', grant };
    }
    const { client } = grant ?? {};
    if (!client || grant?.tokens.refresh_token === undefined) return undefined;
    return await renewed(loadOAuthSdk(), { ...grant, client }, fetchFn, clock);
  }

  private async revoke(grant: Grant): Promise<void> {
    const { revoke } = await import('./renewal.js');
    await this.limited((signal) => revoke(grant, this.fetchFor(signal))).catch((error: unknown) =>
      this.warnOfTokens(asText(error)),
    );
  }

  private warnOfTokens(why: string): void {
    this.deps.log.write('warn', english`The tokens were deleted here, but not revoked: ${why}`);
  }

  private limited<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return limited(this.deps.clock, renewalLimitMs, this.ending.signal, run);
  }

  /**
   * Resolves to the reason why a person must sign in, or to undefined if the server does not ask
   * for OAuth.
   */
  private async advertised(): Promise<string | SignInFailure | undefined> {
    try {
      const { metadata, resource } = await this.limited((signal) => this.discovered(signal, false));
      // Metadata on another origin is not read before a person acts. Its name in the challenge is
      // enough.
      const isAdvertised = this.challenge.metadataUrl ?? resource ?? metadata;
      const { unreadable = nobody } = this.kept;
      return isAdvertised === undefined ? undefined : unreadable;
    } catch (error) {
      if (error instanceof SignInFailure) return error;
      this.deps.log.write(
        'debug',
        `[oauth] how to sign in could not be found out: ${asText(error)}`,
      );
      return undefined;
    }
  }

  private async discovered(signal: AbortSignal, byPerson: boolean): Promise<Authority> {
    const { discover } = await import('./discovery.js');
    const { url, oauth } = this.launch;
    const { metadataUrl } = this.challenge;
    const fetchFn = this.fetchFor(signal);
    return await discover({
      server: new URL(url.value),
      metadataUrl,
      issuer: oauth?.issuer,
      byPerson,
      fetchFn,
    });
  }

  private fetchFor(signal: AbortSignal): FetchLike {
    return oauthFetch(
      this.agents,
      `mcp-toolsets/${this.deps.clientVersion}`,
      signal,
      this.deps.clock,
    );
  }

  private followToken(isElsewhere: boolean): void {
    this.renewing = undefined;
    const { grant, lacks } = this.kept.value;
    if (!grant) return this.lack(this.endedBecause, { isElsewhere });
    this.endedBecause = ended;
    this.overtaken.abort(new Error('A newer sign-in has another token.'));
    if (lacks !== undefined) this.lacking ??= { scope: lacks === '' ? undefined : lacks };
    const missing = this.lacking?.scope;
    if (missing !== undefined && coversScopes(grant.scope, missing)) this.lacking = undefined;
    this.becomeSignedIn();
  }

  private becomeSignedIn(): void {
    const lacks = this.lacking && (this.lacking.scope ?? unnamed);
    const { since, scope: scopes } = this.kept.value.grant ?? {};
    this.become({
      kind: 'signedIn',
      lacks,
      since,
      scopes,
      ...(this.isProgram && { fix: scopesFix }),
    });
  }

  private lack(why: string, more: { readonly fix?: string; readonly isElsewhere?: boolean }): void {
    const since = this.status.kind === 'needed' ? this.status.since : this.deps.clock.now();
    this.become({
      kind: 'needed',
      why,
      since,
      ...more,
    });
  }

  private become(status: SignInStatus): void {
    const before = this.status;
    this.status = status;
    if (JSON.stringify(before) !== JSON.stringify(status)) this.deps.onChange();
  }
}

const bodyLimit = 1024 * 1024;
const bodiless = [204, 205, 304];

const mostTries = 3;
const firstPauseMs = 500;

/** Sends again if the authorization server refuses only for the moment. */
async function patiently(request: HttpExchange, clock: Clock): Promise<HttpReply> {
  for (let tries = 1; ; tries++) {
    const reply = await exchange(request);
    const pause = pauseMs(reply, clock.now()) ?? firstPauseMs * tries;
    if (!isForNow(reply) || tries === mostTries || pause > longestPauseMs) return reply;
    discard(reply.body);
    await delay(clock, pause, request.signal);
  }
}

/**
 * Gives the SDK a `fetch` over our HTTP exchange, with the same proxies, certificates and failures.
 */
function oauthFetch(
  agents: HttpAgents,
  userAgent: string,
  signal: AbortSignal,
  clock: Clock,
): FetchLike {
  return async (target, init) => {
    const headers = Object.fromEntries(new Headers(init?.headers));
    const body = init?.body as string | URLSearchParams | null | undefined;
    const isPost = init?.method === 'POST';
    const request: HttpExchange = {
      method: isPost ? 'POST' : 'GET',
      url: new URL(target),
      headers: {
        accept: 'application/json',
        ...headers,
        'accept-encoding': 'gzip, br',
        'user-agent': userAgent,
      },
      body: body?.toString(),
      redirects: 'leave',
      agents,
      signal,
    };
    const reply = isPost ? await patiently(request, clock) : await exchange(request);
    const text = await readableAnswer(await readText(reply, bodyLimit));
    const isOAuth = /"error"\s*:\s*"/.test(text);
    if (isPost && reply.status > 299 && (isForNow(reply) || !isOAuth)) {
      const pause = pauseMs(reply, clock.now());
      const more = pause === undefined ? '' : `. ${askAgain(pause)}`;
      throw new Error(
        english`${shown(reply.url)} answered with HTTP ${reply.status}: ${inShort(wordsIn(text))}${more}`,
      );
    }
    const isForToken = isPost && new URLSearchParams(body?.toString()).has('grant_type');
    const came =
      isForToken && reply.status >= 200 && reply.status <= 299 ? whatCameForToken(text) : undefined;
    if (came !== undefined)
      throw new Error(english`${shown(reply.url)} answered the request for a token ${came}.`);
    const replied = Object.entries(reply.headers)
      .filter(([name]) => name !== 'content-encoding' && name !== 'content-length')
      .map(([name, value]): [string, string] => [name, String(value)]);
    return new Response(bodiless.includes(reply.status) ? null : text, {
      status: reply.status,
      headers: replied,
    });
  };
}

interface Challenge {
  readonly metadataUrl: URL | undefined;
  readonly scope: string | undefined;
  readonly error: string | undefined;
}

/** Returns the first Bearer challenge, because the header may have several. */
export function readChallenge(header: string | undefined): Challenge {
  const bearer = /(?:^|,)\s*bearer(?=\s|,|$)/i.exec(header ?? '');
  const parameters = new Map<string, string>();
  const rest = bearer ? bearer.input.slice(bearer.index + bearer[0].length) : '';
  const parameter = /[\s,]*([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))/iy;
  for (let found = parameter.exec(rest); found; found = parameter.exec(rest)) {
    const value = found[2]?.replace(/\\(.)/g, '$1') ?? found[3] ?? '';
    const name = (found[1] ?? '').toLowerCase();
    if (!parameters.has(name)) parameters.set(name, value);
  }
  const metadata = parameters.get('resource_metadata') ?? '';
  const metadataUrl = URL.canParse(metadata) ? new URL(metadata) : undefined;
  return {
    metadataUrl: metadataUrl && /^https?:$/.test(metadataUrl.protocol) ? metadataUrl : undefined,
    scope: parameters.get('scope') || undefined,
    error: parameters.get('error'),
  };
}
