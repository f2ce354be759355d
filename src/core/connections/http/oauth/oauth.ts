/**
 * Signing in to HTTP servers (X7), as the rest of the core and the shells see it. It does not load the SDK.
 *
 * Invariants: only `signIn` opens a browser, and only a person's action calls it; a server with a configured
 * `Authorization` header has no OAuth; secrets go to `keepSecret` before they are used.
 */
import { Emitter } from '../../../base/events.js';
import type { HttpLaunch, Launch } from '../../../config/model.js';
import { OAuthAccess, type OAuthDeps } from './access.js';
import { SignInFailure, type SignInBrowser, type SignIns, type SignInStatus } from './contract.js';
import { grantKey } from './grant.js';

/** There is one for all servers of a window: servers with one address and one client have one sign-in. */
export class OAuth implements SignIns {
  private readonly changes = new Emitter<void>();
  private readonly accesses = new Map<string, OAuthAccess>();
  private readonly subscription: { dispose(): unknown };

  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: OAuthDeps) {
    this.subscription = deps.secrets.onDidChange(({ key }) => void this.accesses.get(key)?.reread());
  }

  /** Returns undefined if the file itself has the credentials. @param launch with the output of its programs */
  accessFor(launch: HttpLaunch): OAuthAccess | undefined {
    const access = this.accessOf(launch);
    // The address and the client are the same; its secret may be another one.
    if (access) access.launch = launch;
    return access;
  }

  statusOf(launch: Launch): SignInStatus {
    return (launch.transport === 'streamable_http' && this.accessOf(launch)?.status) || { kind: 'none' };
  }

  async signIn(launch: Launch, browser: SignInBrowser, signal: AbortSignal): Promise<void> {
    const access = this.wanted(launch);
    if (isIncomplete(access.launch))
      throw new SignInFailure('A program prints a value of `oauth` when the server starts. Start the server first.');
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
    if ([...launch.headers.keys()].some((name) => name.toLowerCase() === 'authorization')) return undefined;
    // The output of a program is known when the server starts.
    if (!URL.canParse(launch.url)) return undefined;
    const key = grantKey(launch);
    const known = this.accesses.get(key);
    if (known) return known;
    const access = new OAuthAccess({ ...this.deps, launch, key, onChange: () => this.changes.fire() });
    this.accesses.set(key, access);
    return access;
  }

  private wanted(launch: Launch): OAuthAccess {
    const access = launch.transport === 'streamable_http' ? this.accessOf(launch) : undefined;
    if (access) return access;
    throw new SignInFailure(
      launch.transport === 'stdio'
        ? 'A server with the transport `stdio` has no sign-in.'
        : launch.url === ''
          ? 'Sign-in is not possible, because the address of this server comes from a program.'
          : 'The config file has an Authorization header for this server, which replaces the sign-in.',
    );
  }
}

function isIncomplete({ oauth }: HttpLaunch): boolean {
  return [oauth?.clientSecret, oauth?.privateKey].some(
    (value) => value?.kind === 'reference' && value.source.kind === 'command' && value.value === '',
  );
}
