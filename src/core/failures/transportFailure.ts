import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { english } from '../base/language.js';
import { signInCommand } from '../base/signInCommand.js';
import { errorCodes } from '../protocol/errors.js';

type Reason =
  /** The message was not delivered: refused, no such host, TLS, no route. `code` is Node's. */
  | {
      readonly kind: 'unreachable';
      readonly code: string;
      readonly detail: string;
      readonly proxy?: ProxyOnTheWay;
      /** True if the proxy has connected to the server. */
      readonly isPassed?: boolean;
      readonly trust?: string | undefined;
    }
  /**
   * Delivered, so the server may have acted on it; the answer broke off or never began. `code` is
   * Node's. `isEnded`: the server itself ended it.
   */
  | {
      readonly kind: 'broken';
      readonly detail: string;
      readonly isEnded?: true;
      readonly code?: string;
    }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body: string;
      readonly contentType: string;
      /** The proxy that answered in place of the server. */
      readonly proxy?: ProxyOnTheWay;
      /** Sentences about the credential, or the time for the next request. */
      readonly more?: string;
    }
  | {
      readonly kind: 'notMcp';
      readonly contentType: string;
      readonly body: string;
      readonly isLegacyStream?: true;
      readonly fault?: AnswerFault | undefined;
    }
  | {
      readonly kind: 'redirect';
      readonly detail: string;
      readonly remedy?: RedirectRemedy;
    }
  | { readonly kind: 'tooLarge'; readonly limit: number }
  /** The server forgot the session and gave no new one. */
  | { readonly kind: 'sessionLost'; readonly detail: string }
  /**
   * The request was refused until a person signs in (X7). `fix`: signing in again would be refused
   * again.
   */
  | {
      readonly kind: 'signIn';
      readonly why: string;
      readonly fix?: string;
    }
  /** The authorization server cannot be asked for a token, or gives none for the moment. */
  | { readonly kind: 'notRenewed'; readonly why: string }
  | { readonly kind: 'closed'; readonly wasDelivered: boolean };

export type AnswerFault = 'compression' | 'utf16' | 'notJson';

/** `url` is the address as it may be shown. */
export type TransportFailureReason = Reason & { readonly url: string };

/**
 * `host` has the port too. `why` completes "The proxy of the environment …" for one that should be
 * on the way.
 */
export type ProxyOnTheWay =
  | { readonly kind: 'used'; readonly host: string }
  | { readonly kind: 'unusable'; readonly why: string };

export type RedirectRemedy =
  | { readonly kind: 'write'; readonly url: string }
  | { readonly kind: 'signInPage' }
  | { readonly kind: 'circle' }
  /** The event stream of HTTP+SSE names an address for messages that is not used. */
  | { readonly kind: 'otherEndpoint' }
  /** The target must not be written either. */
  | { readonly kind: 'unsafe' };

export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';

  constructor(readonly reason: TransportFailureReason) {
    super(describeReason(reason));
  }
}

export function wasNotDelivered({ reason }: TransportFailure): boolean {
  if (reason.kind === 'closed') return !reason.wasDelivered;
  return reason.kind === 'unreachable' || reason.kind === 'sessionLost';
}

/** True if the server refuses who asks or how often, so it would refuse every message. */
export function refusesUs(reason: TransportFailureReason): boolean {
  return reason.kind === 'status' && [401, 403, 407, 429].includes(reason.status);
}

/**
 * The failure as the answer to a request. As an object of this class, no server can have sent it.
 */
export function failureAnswer(id: RequestId, failure: TransportFailure): JSONRPCMessage {
  return {
    jsonrpc: '2.0',
    id,
    error: {
      code: errorCodes.server,
      message: failure.message,
      data: failure,
    },
  };
}

export function describeReason(reason: TransportFailureReason): string {
  const sentence = describe(reason);
  return 'more' in reason ? english`${sentence} ${reason.more ?? ''}` : sentence;
}

function describe(reason: TransportFailureReason): string {
  const { url } = reason;
  const body = 'body' in reason ? reason.body : '';
  switch (reason.kind) {
    case 'unreachable':
      return english`${url} cannot be reached: ${reason.detail}.`;
    case 'broken':
      return english`The answer of ${url} broke off: ${reason.detail}.`;
    case 'status':
      return body === ''
        ? english`${url} answered with HTTP ${reason.status}.`
        : english`${url} answered with HTTP ${reason.status}: ${ended(body)}`;
    case 'notMcp':
      return body === ''
        ? english`${url} answered with something that is not MCP (${reason.contentType || 'no content type'}).`
        : english`${url} answered with something that is not MCP (${reason.contentType || 'no content type'}): ${ended(body)}`;
    case 'redirect':
      return english`${url}: ${reason.detail}.`;
    case 'tooLarge':
      return english`The answer of ${url} is larger than ${reason.limit / 1024 / 1024} MiB.`;
    case 'sessionLost':
      return english`${url} forgot the session, and a new initialize ${ended(reason.detail)}`;
    case 'signIn': {
      if (reason.fix !== undefined)
        return english`${url} gives no access. ${reason.why} ${ended(reason.fix)}`;
      const why = ended(reason.why);
      // The text about missing rights names it too.
      return why.includes(signInCommand)
        ? english`${url} needs a sign-in. ${why}`
        : english`${url} needs a sign-in. ${why} Outside the editor, run ${signInCommand}.`;
    }
    case 'notRenewed':
      return english`There is no valid token for ${url}: ${ended(reason.why)}`;
    case 'closed':
      return english`The connection to ${url} was closed.`;
  }
}

/** Foreign text may end without a full stop. */
function ended(text: string): string {
  return /[.!?…]$/.test(text) ? text : english`${text}.`;
}
