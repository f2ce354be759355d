/** What signing in to HTTP servers (X7) needs of a shell, and what the rest of the core sees of it. */
import type { Event } from '../../../base/events.js';
import type { Launch } from '../../../config/model.js';

/** Where grants are kept; the editor's secret storage has this shape. */
export interface SecretStore {
  get(key: string): PromiseLike<string | undefined>;
  store(key: string, value: string): PromiseLike<void>;
  delete(key: string): PromiseLike<void>;
  /** Fires also for changes that other windows make. */
  readonly onDidChange: (listener: (change: { readonly key: string }) => void) => { dispose(): unknown };
}

/** Where the browser comes back to after a sign-in. */
export interface Redirect {
  /** As the authorization server is told. */
  readonly url: string;
  /** Of this machine, if it is one. */
  readonly port: number | undefined;
  /** The parameters of what comes back with this state. Rejects with the signal's reason. */
  comesBack(state: string, signal: AbortSignal): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/** The person's browser. */
export interface SignInBrowser {
  /** Rejects when there is none. */
  show(url: URL): Promise<void>;
  /**
   * Begins to wait for the browser to come back.
   * @param port of this machine, where the authorization server knows one.
   * @param isFixed it takes no other.
   */
  waitForReturn(port: number | undefined, isFixed: boolean): Promise<Redirect>;
}

export type SignInStatus =
  /** The server has not asked for it. */
  | { readonly kind: 'none' }
  /** `why` is a sentence for a person; `since` epoch milliseconds. */
  | { readonly kind: 'needed'; readonly why: string; readonly since: number }
  /** `lacks`: scopes that the server wants in addition, for some of what it does. */
  | { readonly kind: 'signedIn'; readonly lacks: string | undefined };

export interface SignIns {
  /** As far as is known now. */
  statusOf(launch: Launch): SignInStatus;
  /** The status of something changed. */
  readonly onDidChange: Event<void>;
  /** Rejects with `SignInFailure`, or with the signal's reason. */
  signIn(launch: Launch, browser: SignInBrowser, signal: AbortSignal): Promise<void>;
  /** Forgets the tokens, and tells the authorization server where it takes that. */
  signOut(launch: Launch): Promise<void>;
}

/** A sign-in that failed. Once it is redacted, its message is fit for a person. */
export class SignInFailure extends Error {
  override readonly name = 'SignInFailure';
}
