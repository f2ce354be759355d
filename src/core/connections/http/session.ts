/**
 * The session of Streamable HTTP: where it comes from, how it is told that the server forgot it, and the one new
 * initialize that follows (X2). Invariants: several refusals of one session make one new session; a session that
 * was configured is not ended here, it is someone else's.
 */
import { Readable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Log } from '../../base/log.js';
import { readShort, shown, type HttpReply } from './exchange.js';
import type { HttpEndpoint } from './endpoint.js';
import { readInitializeAnswer, versionHeader } from '../handshake.js';
import { TransportFailure } from '../transport.js';

interface HttpSessionParts {
  readonly endpoint: HttpEndpoint;
  readonly log: Log;
  /** Posts initialize and resolves with its answer. */
  readonly ask: (message: JSONRPCMessage) => Promise<JSONRPCMessage>;
  readonly onRenewed: () => void;
  readonly signal: AbortSignal;
}

/** What servers made after the SDK's examples answer with 400 when they mean 404. */
const sessionUnknown = /session/i;
const saysUnknown = /no valid|invalid|unknown|not found|expired|missing|does not exist|required/i;

export class HttpSession {
  private first: JSONRPCMessage | undefined;
  private renewing: Promise<void> | undefined;
  private renewals = 0;
  private given = false;

  constructor(private readonly parts: HttpSessionParts) {}

  /** The client's initialize, to be said again. */
  remember(initialize: JSONRPCMessage): void {
    this.first = initialize;
  }

  /** Takes what the answer to initialize says about session and place. */
  adopt(message: JSONRPCMessage, reply: HttpReply): void {
    if (!('method' in message) || message.method !== 'initialize' || reply.status > 299) return;
    const { endpoint } = this.parts;
    endpoint.url = reply.url;
    const session = reply.headers['mcp-session-id'];
    if (typeof session !== 'string' || session === '') return;
    endpoint.sessionId = session;
    this.given = true;
  }

  /** Waits for a new session, if one is being made. */
  async settled(): Promise<void> {
    await this.renewing?.catch(() => undefined);
  }

  /** Undefined when the reply to a request with a session says that there is no such session, else the reply. */
  async unlessRefused(reply: HttpReply): Promise<HttpReply | undefined> {
    if (reply.status === 404) {
      reply.body.resume();
      return undefined;
    }
    if (reply.status !== 400) return reply;
    const text = await readShort(reply);
    if (sessionUnknown.test(text) && saysUnknown.test(text)) return undefined;
    return { ...reply, body: Readable.from([Buffer.from(text)]) };
  }

  /** Resolves when there is a session that is not `expired`. Rejects when the server gives none. */
  renew(expired: string): Promise<void> {
    if (this.parts.endpoint.sessionId !== expired) return this.renewing ?? Promise.resolve();
    this.renewing ??= this.begin().finally(() => (this.renewing = undefined));
    return this.renewing;
  }

  private async begin(): Promise<void> {
    const { endpoint, log, signal } = this.parts;
    if (!this.first) throw new Error('A session was refused before initialize');
    log.write('warn', `${shown(endpoint.url)} no longer knows the session; initialising again`);
    endpoint.sessionId = undefined;
    endpoint.protocolVersion = undefined;
    const lost = (detail: string): TransportFailure =>
      new TransportFailure({ kind: 'sessionLost', detail, url: shown(endpoint.url) });
    const request = { ...this.first, id: `renewal-${++this.renewals}` } as JSONRPCMessage;
    const message = await this.parts.ask(request).catch((error: TransportFailure) => {
      throw error.trouble.kind === 'unreachable' ? error : lost(`came to nothing: ${error.message}`);
    });
    if ('error' in message) throw lost(`was refused: ${message.error.message}`);
    const answer = readInitializeAnswer('result' in message ? message.result : undefined);
    if (answer.kind === 'wrong') throw lost(`was answered wrongly: the answer ${answer.detail}`);
    endpoint.protocolVersion = versionHeader(answer.facts.protocolVersion);
    const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const reply = await endpoint.post(initialized, 'other', signal);
    reply.body.resume();
    this.parts.onRenewed();
  }

  /** Never rejects. */
  async remove(signal: AbortSignal): Promise<void> {
    if (!this.given) return;
    try {
      const reply = await this.parts.endpoint.remove(signal);
      reply.body.resume();
    } catch {
      // It is gone, or does not answer; it will forget the session by itself.
    }
  }
}
