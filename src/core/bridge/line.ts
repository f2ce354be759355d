/**
 * Leads from a client to the gateway, in one era. If the gateway has gone, it is looked for again with the next message.
 * It does not send anything by itself.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { SingleFlight } from '../base/singleFlight.js';
import { HttpTransport } from '../connections/http/transport.js';

export interface GatewayAddress {
  readonly url: string;
  readonly token: string;
}

interface LineDeps {
  /** Says where the gateway is now, and starts one where there is none. */
  readonly find: () => Promise<GatewayAddress>;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  /** Headers of every message. @param times how often there was a gateway before */
  readonly headers?: (times: number) => Readonly<Record<string, string>>;
  readonly onMessage: (transport: HttpTransport, message: JSONRPCMessage) => void;
  /** The gateway has begun a new session for the old one. */
  readonly onRenewed: () => void;
  /** Readies a transport for the first message; `times` as above. */
  readonly begin: (transport: HttpTransport, gateway: GatewayAddress, times: number) => Promise<void>;
}

/** A gateway that does not begin a new session within this is looked for again, in milliseconds. */
const sessionLimitMs = 30_000;

export class Line {
  private transport: HttpTransport | undefined;
  /** Where that leads. */
  private gateway: GatewayAddress | undefined;
  private isInDoubt = false;
  private readonly opening = new SingleFlight(() => this.open());
  private failure = '';
  private times = 0;

  constructor(private readonly deps: LineDeps) {}

  /** Resolves with what takes messages now. Rejects where there is no gateway. */
  async way(): Promise<HttpTransport> {
    if (!this.transport) await this.opening.request();
    const { transport } = this;
    if (!transport) throw new Error(this.failure);
    return transport;
  }

  /** Looks for the gateway again, as messages were refused there. Resolves to whether they go another way now. */
  async hasMoved(from: HttpTransport): Promise<boolean> {
    if (this.transport === from) {
      this.isInDoubt = true;
      await this.opening.request();
    }
    return this.transport !== from;
  }

  isOpen(transport: HttpTransport): boolean {
    return this.transport === transport;
  }

  /** The next message looks for the gateway again. */
  drop(transport: HttpTransport): void {
    if (this.transport === transport) this.transport = undefined;
  }

  async close(): Promise<void> {
    await this.opening.settled();
    const { transport } = this;
    this.transport = undefined;
    await transport?.close();
  }

  /** Never rejects. */
  private async open(): Promise<void> {
    if (this.transport && !this.isInDoubt) return;
    this.isInDoubt = false;
    try {
      const gateway = await this.deps.find();
      if (this.transport && gateway.url === this.gateway?.url && gateway.token === this.gateway.token) return;
      const transport = this.transportTo(gateway, this.times);
      await this.deps.begin(transport, gateway, this.times++);
      this.transport = transport;
      this.gateway = gateway;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  private transportTo({ url, token }: GatewayAddress, times: number): HttpTransport {
    const { log, clock, version, headers, onMessage, onRenewed } = this.deps;
    const all = { Authorization: `Bearer ${token}`, ...headers?.(times) };
    const literal = Object.entries(all).map(([name, value]) => [name, { kind: 'literal', value } as const] as const);
    const transport = new HttpTransport({
      launch: { transport: 'streamable_http', url, headers: new Map(literal), sessionId: '' },
      log,
      clock,
      clientVersion: version,
      timeoutMs: sessionLimitMs,
    });
    transport.onrenewed = onRenewed;
    transport.onmessage = transport.onlate = (message: JSONRPCMessage) => onMessage(transport, message);
    transport.onclose = () => this.drop(transport);
    return transport;
  }
}
