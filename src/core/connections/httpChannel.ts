/** What the two ways of speaking over HTTP have in common: who they report to, and how they are used. */
import { setMaxListeners } from 'node:events';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';

export interface HttpChannelParts {
  readonly log: Log;
  readonly clock: Clock;
  /** `origin`: the request on whose stream it came. */
  readonly deliver: (message: JSONRPCMessage, origin?: RequestId) => void;
  /** The server cannot be reached any more, or has gone; in words. */
  readonly die: (cause: string) => void;
}

export interface HttpChannel {
  /** Requests: resolves at once, what becomes of it is delivered. Others: resolves when the server has taken it. */
  send(message: JSONRPCMessage): Promise<void>;
  /** Ends every exchange. Does not deliver or die afterwards. */
  close(): Promise<void>;
}

/** For a signal that many exchanges listen to at a time; each takes its listener back when it ends. */
export function sharedController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** Undefined for what is no request. */
export function requestId(message: JSONRPCMessage): RequestId | undefined {
  return 'method' in message && 'id' in message ? message.id : undefined;
}

export function cancelledRequest(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  return (message.params as { requestId?: RequestId } | undefined)?.requestId;
}
