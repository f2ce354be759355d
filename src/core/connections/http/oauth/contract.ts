/** What signing in to HTTP servers (X7) needs of a shell, and what the rest of the core sees of it. */
import { delay, type Clock } from '../../../base/clock.js';
import type { Event } from '../../../base/events.js';
import type { Launch } from '../../../config/model.js';

/** The store in which grants are kept; the editor's secret storage has this shape. */
export interface SecretStore {
  get(key: string): PromiseLike<string | undefined>;
  store(key: string, value: string): PromiseLike<void>;
  delete(key: string): PromiseLike<void>;
  /** Fires also for changes that other windows make. */
  readonly onDidChange: (listener: (change: { readonly key: string }) => void) => { dispose(): unknown };
}

/** The limit for an answer of the store in milliseconds. The store may ask a person to unlock it. */
const answerLimitMs = 3_000;

/** Resolves or rejects as the store does. Rejects where it does not answer in time, and what it answers later is left to the caller. */
export async function timelyAnswer<Answer>(clock: Clock, answer: Promise<Answer>): Promise<Answer> {
  const over = new AbortController();
  const limit = delay(clock, answerLimitMs, over.signal).then(() =>
    Promise.reject(new Error('The secret storage did not answer.')),
  );
  limit.catch(() => undefined);
  try {
    return await Promise.race([answer, limit]);
  } finally {
    over.abort();
  }
}

/** The place that the browser comes back to after a sign-in. */
export interface Redirect {
  /** The address as the authorization server is told. */
  readonly url: string;
  /** The port, if the redirect leads to this machine. */
  readonly port: number | undefined;
  /** Resolves with the parameters that come back with this state. Rejects with the signal's reason. */
  comesBack(state: string, signal: AbortSignal): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/** Who takes part in a sign-in, by origins. A person has to see both the page and the server. */
export interface SignInParties {
  /** The MCP server, which gets the token: its address without secrets. */
  readonly server: string;
  readonly issuer: string;
  /** Where the person signs in. */
  readonly page: string;
  /** Who is sent the code and gives the token. */
  readonly tokens: string;
  /** Who else than the issuer's site the authorization server names. */
  readonly elsewhere: readonly string[];
}

/** The person's browser. */
export interface SignInBrowser {
  /** Resolves with true if the person agrees that these belong together, which nothing else shows. */
  confirm(parties: SignInParties): Promise<boolean>;
  /** Rejects when there is none. */
  show(url: URL, parties: SignInParties): Promise<void>;
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
  /** `why` is a sentence for a person; `since` is in epoch milliseconds. */
  | { readonly kind: 'needed'; readonly why: string; readonly since: number }
  /** `lacks` holds the scopes that the server wants in addition for some of what it does. */
  | { readonly kind: 'signedIn'; readonly lacks: string | undefined };

export interface SignIns {
  /** Returns the status as far as it is known now. */
  statusOf(launch: Launch): SignInStatus;
  /** Fires when the status of a sign-in changed. */
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
