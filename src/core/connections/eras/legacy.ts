/** The protocol versions with `initialize`. */
import type { ClientCapabilities, JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Exchange, Peer, Result } from '../../peer/peer.js';
import type { Fields } from '../../protocol/client.js';
import { answerParams, requestParams, type ServerFacts } from '../handshake.js';
import type { Protocol } from '../protocol.js';
import type { ServerRequests } from '../serverRequests.js';

export class LegacyProtocol implements Protocol {
  /** @param declared the capabilities sent to the server */
  constructor(
    private readonly peer: Peer,
    readonly facts: ServerFacts,
    private readonly serverRequests: ServerRequests,
    private readonly declared: ClientCapabilities,
  ) {}

  metaFor(): undefined {
    return undefined;
  }

  call(exchange: Exchange, method: string, params: Fields): Promise<Result> {
    return exchange.send(method, requestParams(this.facts.protocolVersion, method, params));
  }

  list(method: string, params: Fields | undefined, signal: AbortSignal): Promise<Result> {
    return this.peer.request(method, params, signal);
  }

  begin(): Promise<void> {
    return this.peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  read(notification: JSONRPCNotification): JSONRPCNotification {
    return notification;
  }

  async answer(request: JSONRPCRequest, signal: AbortSignal): Promise<Fields> {
    if (request.method === 'ping') return {};
    const answer = await this.serverRequests.answer(request, signal);
    return answerParams(this.facts.protocolVersion, request.method, answer);
  }

  takes(notification: string): boolean {
    return notification !== 'notifications/roots/list_changed' || this.declared.roots?.listChanged === true;
  }

  whatIsWrongWithTool(): undefined {
    return undefined;
  }

  dispose(): void {}
}
