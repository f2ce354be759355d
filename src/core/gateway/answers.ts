/** How methods answer, and what they are given to do it with. */
import type { Log } from '../base/log.js';
import type { Delivery } from '../results/delivery.js';
import type { GatewayBackend } from './backend.js';
import type { Reply } from './eventStreams.js';
import { errorCodes, type RequestId, type RpcError } from './jsonRpc.js';
import type { Session } from './session.js';

export interface MethodContext {
  readonly id: RequestId;
  readonly session: Session;
  readonly reply: Reply;
  readonly services: Services;
}

export interface Services {
  readonly backend: GatewayBackend;
  readonly log: Log;
  readonly delivery: Delivery;
  /** Calls in flight in one session. */
  readonly maxCalls: number;
  /** Sessions, lists or calls in flight of this toolset changed. */
  readonly noteActivity: (toolset: string) => void;
  /** Whether a client may say in `_meta` which conversation calls; else that is its session. */
  readonly namesConversations: boolean;
}

export type Answer =
  | { readonly kind: 'result'; readonly json: string }
  | { readonly kind: 'error'; readonly error: RpcError }
  /** Settles the reply itself, once. */
  | { readonly kind: 'later' };

export function invalidParams(message: string): Answer {
  return refusal(errorCodes.invalidParams, message);
}

export function refusal(code: number, message: string): Answer {
  return { kind: 'error', error: { code, message } };
}
