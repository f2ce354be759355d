/**
 * The right to use one HTTP server (X7): it decides which token goes out with a request, what a refusal means and when
 * a token is renewed. Only `signIn` opens a browser.
 *
 * Invariants: one renewal at a time, and never with tokens that another window has renewed meanwhile; a token that was
 * refused for good is forgotten; the status changes before those who asked go on.
 */
import type { Clock } from '../../../base/clock.js';
import type { Log } from '../../../base/log.js';
import type { HttpLaunch } from '../../../config/model.js';
import { directAgents, type HttpAgents, type MakeAgents } from '../agents.js';
import type { HttpAccess, Refusal, Verdict } from '../endpoint.js';
import { type Authority, discover, isAdvertised } from './discovery.js';
import { SignInFailure, timelyAnswer, type SecretStore, type SignInBrowser, type SignInStatus } from './contract.js';
import { oauthFetch } from './fetch.js';
import { isStale, joinedScopes, type Kept, nothingKept, parseKept, secretsOfKept } from './grant.js';
import { renewed, revoke, signedInAsProgram } from './renewal.js';
import { loadOAuthSdk, type OAuthSdk } from './sdk.js';
import { signIn } from './signIn.js';

interface OAuthAccessDeps {
  readonly launch: HttpLaunch;
  /** The key in the store. */
  readonly key: string;
  readonly secrets: SecretStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly keepSecret: (values: readonly string[]) => { dispose(): void };
  readonly clientVersion: string;
  readonly agents?: MakeAgents;
  readonly onChange: () => void;
}

const nobody = 'Nobody has signed in yet.';
const ended = 'The sign-in has ended: its token has expired or was revoked.';
const renewalLimitMs = 30_000;
const signInLimitMs = 10 * 60_000;

export class OAuthAccess implements HttpAccess {
  private kept: Kept = nothingKept;
  private reading: Promise<void> | undefined;
  private renewing: Promise<boolean> | undefined;
  private status_: SignInStatus = { kind: 'none' };
  /** The challenge of the last refusal. */
  private challenge: Challenge = readChallenge(undefined);
  /** The last sign-in did not come back: the authorization server may have forgotten this client. */
  private registrationDoubted = false;
  /** Whether the store cannot be used, so that what is kept here is all there is. */
  private storeFails = false;
  private secrets: { dispose(): void }[] = [];
  private readonly ending = new AbortController();
  private readonly agents: HttpAgents;
  /** The launch that connected last. */
  launch: HttpLaunch;

  constructor(private readonly deps: OAuthAccessDeps) {
    this.launch = deps.launch;
    this.agents = (deps.agents ?? directAgents)({});
  }

  get status(): SignInStatus {
    return this.status_;
  }

  /** Resolves with the token that goes out now. It may have ended; then the server says so. */
  async token(): Promise<string | undefined> {
    await (this.reading ??= this.reread());
    const { grant } = this.kept;
    if (grant?.tokens.refresh_token !== undefined && isStale(grant, this.deps.clock.now())) {
      await this.renewOnce(grant.tokens.access_token).catch(() => false);
    }
    return this.kept.grant?.tokens.access_token;
  }

  /**
   * @param used the token of the request that was refused.
   * @param again a new token was tried already.
   */
  async refused(reply: Refusal, used: string | undefined, again: boolean): Promise<Verdict> {
    const challenge = readChallenge(reply.header);
    if (reply.status === 403) return this.lacks(challenge, used);
    this.challenge = challenge;
    const current = this.kept.grant?.tokens.access_token;
    if (current !== undefined && current !== used) return { kind: 'renewed' };
    if (again) return this.need('The server refuses the new token too.');
    try {
      if (await this.renewOnce(used)) return { kind: 'renewed' };
    } catch (error) {
      const why = (error as Error).message;
      return error instanceof SignInFailure ? this.need(why) : { kind: 'notRenewed', why };
    }
    if (this.status_.kind === 'needed') return this.need(this.status_.why);
    if (used === undefined) {
      const why = await this.advertised();
      return why === undefined ? { kind: 'other' } : this.need(why);
    }
    return this.need(ended);
  }

  async signIn(browser: SignInBrowser, signal: AbortSignal): Promise<void> {
    const { launch } = this;
    const { clock } = this.deps;
    await (this.reading ??= this.reread());
    const limit = new AbortController();
    const over = AbortSignal.any([signal, this.ending.signal, limit.signal]);
    const timer = clock.after(signInLimitMs, () => limit.abort(new Error('The sign-in took too long.')));
    try {
      const sdk = await loadOAuthSdk();
      const authority = await this.discovered(sdk, over, true);
      const { grant } = this.kept;
      const more = this.status_.kind === 'signedIn' ? this.status_.lacks : undefined;
      const signedIn = await signIn({
        sdk,
        authority,
        launch,
        browser,
        clock,
        registration: this.registrationDoubted ? undefined : this.kept.registration,
        scope: more === undefined ? this.challenge.scope : joinedScopes(grant?.scope, more),
        fetchFn: this.fetchFor(over),
        signal: over,
        onRegistered: (registration) => this.keep({ ...this.kept, registration }),
        onShown: () => (this.registrationDoubted = true),
      });
      this.registrationDoubted = false;
      await this.keep(signedIn);
    } finally {
      timer.dispose();
    }
  }

  async signOut(): Promise<void> {
    await (this.reading ??= this.reread());
    const { grant, registration } = this.kept;
    await this.forget('You signed out.');
    if (!grant) return;
    const signal = AbortSignal.any([this.ending.signal, AbortSignal.timeout(renewalLimitMs)]);
    await revoke(await loadOAuthSdk(), grant, registration?.client, this.fetchFor(signal)).catch((error: unknown) =>
      this.deps.log.write('warn', `The tokens are forgotten here, but were not revoked: ${String(error)}`),
    );
  }

  /** Reads the store, which another window may have changed. */
  async reread(): Promise<void> {
    const { secrets, key, clock } = this.deps;
    if (this.storeFails) return;
    const text = Promise.resolve(secrets.get(key)).catch(() => undefined);
    // What the store answers too late is taken then.
    await timelyAnswer(
      clock,
      text.then((kept) => this.take(parseKept(kept))),
    ).catch(() => undefined);
  }

  dispose(): void {
    this.ending.abort();
    this.agents.destroy();
    for (const secret of this.secrets) secret.dispose();
  }

  private lacks(challenge: Challenge, used: string | undefined): Verdict {
    if (used === undefined || challenge.error !== 'insufficient_scope') return { kind: 'other' };
    this.challenge = challenge;
    const scope = challenge.scope ?? 'more than was granted';
    if (this.kept.grant) this.become({ kind: 'signedIn', lacks: scope });
    return { kind: 'signIn', why: `What was asked for needs more rights: ${scope}. Sign in again to grant them.` };
  }

  private async need(why: string): Promise<Verdict> {
    if (this.kept.grant) await this.keep({ ...this.kept, grant: undefined });
    this.lack(why);
    return { kind: 'signIn', why };
  }

  private async forget(why: string): Promise<void> {
    await this.keep({ ...this.kept, grant: undefined });
    this.lack(why);
  }

  /** Resolves to false if there is no other token than `used`, and none to be had without a person. */
  private renewOnce(used: string | undefined): Promise<boolean> {
    this.renewing ??= this.renew(used).finally(() => (this.renewing = undefined));
    return this.renewing;
  }

  private async renew(used: string | undefined): Promise<boolean> {
    const { launch } = this;
    const { clock, log } = this.deps;
    await this.reread();
    const { grant, registration } = this.kept;
    if (grant && grant.tokens.access_token !== used) return true;
    const signal = AbortSignal.any([this.ending.signal, AbortSignal.timeout(renewalLimitMs)]);
    if (launch.oauth?.grant === 'client_credentials') {
      const sdk = await loadOAuthSdk();
      const authority = await this.discovered(sdk, signal, false);
      const scope = this.challenge.scope;
      const next = await signedInAsProgram({ sdk, authority, launch, scope, fetchFn: this.fetchFor(signal), clock });
      await this.keep({ registration: undefined, grant: next });
      return true;
    }
    if (!grant || grant.tokens.refresh_token === undefined || !registration) return false;
    const outcome = await renewed(await loadOAuthSdk(), grant, registration.client, this.fetchFor(signal), clock);
    switch (outcome.kind) {
      case 'renewed':
        log.write('debug', `[oauth] the token of ${new URL(launch.url).host} was renewed`);
        await this.keep({ registration, grant: outcome.grant });
        return true;
      case 'refused': {
        log.write('info', `[oauth] the token of ${new URL(launch.url).host} was not renewed: ${outcome.why}`);
        await this.reread();
        const rival = this.kept.grant;
        if (rival && rival.tokens.access_token !== used) return true;
        await this.keep({ registration: outcome.clientUnknown ? undefined : registration, grant: undefined });
        return false;
      }
    }
  }

  /** Resolves with why a person is needed, or with undefined where the server does not say that it wants OAuth. */
  private async advertised(): Promise<string | undefined> {
    const signal = AbortSignal.any([this.ending.signal, AbortSignal.timeout(renewalLimitMs)]);
    try {
      const authority = await this.discovered(await loadOAuthSdk(), signal, false);
      // Metadata on another origin is not read before a person acts; that the server names it says enough.
      if (this.challenge.metadataUrl) return nobody;
      return isAdvertised(authority) ? nobody : undefined;
    } catch (error) {
      if (error instanceof SignInFailure) return error.message;
      this.deps.log.write('debug', `[oauth] nothing found out about signing in: ${String(error)}`);
      return undefined;
    }
  }

  /** @param byPerson a person has asked for it */
  private discovered(sdk: OAuthSdk, signal: AbortSignal, byPerson: boolean): Promise<Authority> {
    const { url, oauth } = this.launch;
    const { metadataUrl } = this.challenge;
    const fetchFn = this.fetchFor(signal);
    return discover({ sdk, server: new URL(url), metadataUrl, issuer: oauth?.issuer, byPerson, fetchFn });
  }

  private fetchFor(signal: AbortSignal): ReturnType<typeof oauthFetch> {
    return oauthFetch(this.agents, `mcp-toolsets/${this.deps.clientVersion}`, signal);
  }

  private async keep(kept: Kept): Promise<void> {
    const { secrets, key, log } = this.deps;
    this.take(kept);
    try {
      if (kept.grant || kept.registration) await secrets.store(key, JSON.stringify(kept));
      else await secrets.delete(key);
      this.storeFails = false;
    } catch (error) {
      this.storeFails = true;
      log.write('warn', `[oauth] the sign-in could not be stored, and lasts as long as this window: ${String(error)}`);
    }
  }

  private take(kept: Kept): void {
    const secrets = this.deps.keepSecret(secretsOfKept(kept));
    this.secrets.push(secrets);
    // A server may still quote what was renewed just now.
    if (this.secrets.length > 3) this.secrets.shift()?.dispose();
    const before = this.kept.grant?.tokens.access_token;
    const now = kept.grant?.tokens.access_token;
    this.kept = kept;
    if (before === now) return;
    if (now !== undefined) this.become({ kind: 'signedIn', lacks: undefined });
    else this.lack(ended);
  }

  private lack(why: string): void {
    const since = this.status_.kind === 'needed' ? this.status_.since : this.deps.clock.now();
    this.become({ kind: 'needed', why, since });
  }

  private become(status: SignInStatus): void {
    const before = this.status_;
    this.status_ = status;
    if (JSON.stringify(before) !== JSON.stringify(status)) this.deps.onChange();
  }
}

/**
 * Reads what a server says in `WWW-Authenticate` when it refuses a request (RFC 6750, RFC 9728). Everything here is
 * pure.
 */

interface Challenge {
  readonly isBearer: boolean;
  /** The address of the protected resource metadata. */
  readonly metadataUrl: URL | undefined;
  /** The scopes that the request needs. */
  readonly scope: string | undefined;
  readonly error: string | undefined;
}

/** Returns the first Bearer challenge, as the header may have several. */
export function readChallenge(header: string | undefined): Challenge {
  const bearer = /(?:^|,)\s*bearer(?=\s|,|$)/i.exec(header ?? '');
  if (!bearer) return { isBearer: false, metadataUrl: undefined, scope: undefined, error: undefined };
  const parameters = new Map<string, string>();
  const rest = (header ?? '').slice(bearer.index + bearer[0].length);
  const parameter = /[\s,]*([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))/iy;
  for (let found = parameter.exec(rest); found; found = parameter.exec(rest)) {
    const value = found[2]?.replace(/\\(.)/g, '$1') ?? found[3] ?? '';
    const name = (found[1] ?? '').toLowerCase();
    if (!parameters.has(name)) parameters.set(name, value);
  }
  const metadata = parameters.get('resource_metadata') ?? '';
  const metadataUrl = URL.canParse(metadata) ? new URL(metadata) : undefined;
  return {
    isBearer: true,
    metadataUrl: metadataUrl && /^https?:$/.test(metadataUrl.protocol) ? metadataUrl : undefined,
    scope: parameters.get('scope') || undefined,
    error: parameters.get('error'),
  };
}
