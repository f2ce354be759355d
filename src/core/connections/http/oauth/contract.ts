import { limited, type Clock } from '../../../base/clock.js';
import { unlessAborted, type Event } from '../../../base/events.js';
import type { Launch } from '../../../config/model.js';

/** The store of grants; the editor's secret storage has this shape. */
export interface SecretStore {
  get(key: string): PromiseLike<string | undefined>;
  store(key: string, value: string): PromiseLike<void>;
  delete(key: string): PromiseLike<void>;
  readonly onDidChange: (listener: (change: { readonly key: string }) => void) => {
    dispose(): unknown;
  };
}

/** The store of sign-ins. Several processes of a person share it. */
export interface SignInStore extends SecretStore {
  /**
   * Carries out the work while no other process does so for this key. Rejects without it if the
   * others cannot be kept away.
   */
  exclusively<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/**
 * The limit for an answer of the store in milliseconds. The store may ask a person to unlock it.
 */
const answerLimitMs = 3_000;

/**
 * Settles as the store does. Rejects if it does not answer in time, and leaves a late answer to the
 * caller.
 */
export function timelyAnswer<Answer>(clock: Clock, answer: Promise<Answer>): Promise<Answer> {
  const late = new Error('The secret storage did not answer.');
  return limited(clock, answerLimitMs, undefined, (over) => unlessAborted(answer, over), late);
}

export interface Redirect {
  readonly url: string;
  readonly port: number | undefined;
  /** Resolves to the parameters of the return with this state. Rejects with the signal's reason. */
  comesBack(state: string, signal: AbortSignal): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/**
 * The parties of a sign-in, by origins, and by paths if the issuer has one. A person must see both
 * the page and the server.
 */
export interface SignInParties {
  /** The MCP server, which gets the token: its address without secrets. */
  readonly server: string;
  readonly issuer: string;
  readonly page: string;
  readonly tokens: string;
  /** The addresses of other sites than the issuer's. */
  readonly elsewhere: readonly string[];
}

export interface SignInBrowser {
  /** Resolves to true if the person agrees: these belong together, though nothing else shows it. */
  confirm(parties: SignInParties): Promise<boolean>;
  show(url: URL, parties: SignInParties): Promise<void>;
  /**
   * @param port of this machine, if the authorization server knows one. @param isFixed it takes no
   * other.
   */
  waitForReturn(port: number | undefined, isFixed: boolean): Promise<Redirect>;
}

export type SignInStatus =
  | { readonly kind: 'none' }
  /**
   * `why` is a sentence; `since` is in epoch milliseconds; `fix` is set if signing in in a browser
   * would not help; `isElsewhere` if another process ended the sign-in.
   */
  | {
      readonly kind: 'needed';
      readonly why: string;
      readonly since: number;
      readonly fix?: string | undefined;
      readonly isElsewhere?: boolean;
    }
  /**
   * `lacks` holds further scopes the server wants for some of its work; `since` is the time of the
   * sign-in of a person, in epoch milliseconds.
   */
  | {
      readonly kind: 'signedIn';
      readonly since?: number | undefined;
      readonly scopes?: string | undefined;
      readonly lacks: string | undefined;
      readonly fix?: string;
    };

export interface SignIns {
  statusOf(launch: Launch): SignInStatus;
  readonly onDidChange: Event<void>;
  signIn(launch: Launch, browser: SignInBrowser, signal: AbortSignal): Promise<void>;
  /** Forgets the tokens, and revokes them if the authorization server can. */
  signOut(launch: Launch): Promise<void>;
}

/** A failed sign-in. Once it is redacted, its message is fit for a person. */
export class SignInFailure extends Error {
  override readonly name = 'SignInFailure';

  constructor(
    message: string,
    readonly fix?: string,
  ) {
    super(message);
  }
}
