/**
 * The client's connection to the gateway in one era. If the gateway has gone, the next message
 * looks for it again.
 */
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { SingleFlight } from '../base/singleFlight.js';
import { messageOf } from '../base/text.js';
import { RequestHeaders } from '../connections/eras/requestHeaders.js';
import { HttpTransport } from '../connections/http/transport.js';
import { Peer, type PeerListener } from '../peer/peer.js';
import { modernVersion } from '../protocol/versions.js';
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { agentsOver, directAgents, type MakeAgents } from '../connections/http/agents.js';
import { exchange, type HttpReply } from '../connections/http/exchange.js';

export interface GatewayAddress {
  readonly url: string;
  /** Absent for a gateway in this process. */
  readonly token?: string;
  /** Connects to a gateway in this process. */
  readonly connect?: () => Duplex;
}

const agentsFor = ({ connect }: GatewayAddress): MakeAgents =>
  connect ? agentsOver(connect) : directAgents;

export interface LineDeps {
  /** Finds the gateway, or starts one. */
  readonly find: () => Promise<GatewayAddress>;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly listener: PeerListener;
  /** The gateway has begun a new session for the old one. */
  readonly onRenewed: () => void;
  /** Prepares a way for the first message. @param times how often there was a gateway before */
  readonly begin: (way: Way, gateway: GatewayAddress, times: number) => Promise<void> | void;
}

const overStdio = { 'mcp-toolsets-over': 'stdio' };

/**
 * A gateway is looked for again if it does not begin a new session within this, in milliseconds.
 */
const sessionLimitMs = 30_000;

export class Way {
  readonly transport: HttpTransport;
  readonly peer: Peer;

  constructor(gateway: GatewayAddress, deps: LineDeps, times: number, onClose: (way: Way) => void) {
    const { url, token } = gateway;
    const { log, clock, version, listener, onRenewed } = deps;
    // Over stdio no client mirrors parameters in headers. The state at an earlier gateway is gone
    // (L2a).
    const elsewhere = times > 0 && { 'mcp-toolsets-begun-elsewhere': '1' };
    const all = {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...overStdio,
      ...elsewhere,
    };
    const literal = (value: string) => ({ kind: 'literal', value }) as const;
    const headers = new Map(Object.entries(all).map(([name, value]) => [name, literal(value)]));
    const launch = {
      transport: 'streamable_http',
      url: literal(url),
      headers,
      sessionId: '',
    } as const;
    this.transport = new HttpTransport({
      launch,
      log,
      clock,
      clientVersion: version,
      timeoutMs: sessionLimitMs,
      agents: agentsFor(gateway),
    });
    this.peer = new Peer(
      {
        transport: this.transport,
        clock,
        log,
      },
      listener,
    );
    // After the end, the transport still reports of each request whether it was delivered.
    this.transport.onlate = this.transport.onmessage;
    this.transport.onclose = () => onClose(this);
    this.transport.onrenewed = onRenewed;
  }

  speakModern(): void {
    const headers = new RequestHeaders();
    this.transport.setProtocolVersion(modernVersion);
    this.peer.headersOf = (message) => headers.of(message);
  }
}

export class Line {
  private current: Way | undefined;
  /** All ways with open requests, and the current one. */
  private readonly ways = new Set<Way>();
  private gateway: GatewayAddress | undefined;
  private isInDoubt = false;
  private readonly opening = new SingleFlight(() => this.open());
  private failure = '';
  private times = 0;

  constructor(private readonly deps: LineDeps) {}

  async way(): Promise<Way> {
    if (!this.current) await this.opening.request();
    const { current } = this;
    if (!current) throw new Error(this.failure);
    return current;
  }

  /**
   * Looks for the gateway again because it refused a message. Resolves to true if it is at another
   * address now.
   */
  async hasMoved(from: Way): Promise<boolean> {
    if (this.current === from) {
      this.isInDoubt = true;
      await this.opening.request();
    }
    return this.current !== from;
  }

  drop(way: Way): void {
    if (this.current === way) this.current = undefined;
  }

  /** Other requests may still be answered on the old way. */
  endIfUnused(way: Way): void {
    if (this.current === way || way.peer.open.size > 0) return;
    this.ways.delete(way);
    void way.transport.close();
  }

  async close(): Promise<void> {
    await this.opening.settled();
    this.current = undefined;
    await Promise.all([...this.ways].map(({ transport }) => transport.close()));
  }

  /** Never rejects. */
  private async open(): Promise<void> {
    if (this.current && !this.isInDoubt) return;
    this.isInDoubt = false;
    try {
      const gateway = await this.deps.find();
      if (this.current && gateway.url === this.gateway?.url && gateway.token === this.gateway.token)
        return;
      const way = new Way(gateway, this.deps, this.times, (closed) => this.drop(closed));
      await this.deps.begin(way, gateway, this.times++);
      this.ways.add(way);
      this.current = way;
      this.gateway = gateway;
    } catch (error) {
      this.failure = messageOf(error);
    }
  }
}

const endLimitMs = 2_000;
const againMs = 100;

export class OwnAddress {
  readonly id = randomBytes(16).toString('base64url');
  private gateway: GatewayAddress | undefined;
  private attendance = new AbortController();

  at(gateway: GatewayAddress): GatewayAddress {
    return { ...gateway, url: `${gateway.url}/c/${this.id}` };
  }

  /** Holds the address open until it is given back, or the gateway goes. */
  attend(gateway: GatewayAddress): void {
    this.attendance.abort();
    this.attendance = new AbortController();
    this.gateway = gateway;
    // After the end of the gateway, the next message finds another one and opens the address there.
    this.hold(gateway, this.attendance.signal).catch(() => undefined);
  }

  /** The stream has only signs of life. After a break it begins again, before its conversation ends (L2a). */
  private async hold(gateway: GatewayAddress, signal: AbortSignal): Promise<void> {
    for (;;) {
      const { status, body } = await this.ask('GET', gateway, signal);
      await finished(body.resume()).catch(() => undefined);
      if (status !== 200) return;
      await pause(againMs, undefined, { signal, ref: false });
    }
  }

  /** Never rejects. */
  async giveBack(): Promise<void> {
    this.attendance.abort();
    const given = this.gateway && this.ask('DELETE', this.gateway, AbortSignal.timeout(endLimitMs));
    await given?.then(({ body }) => body.destroy()).catch(() => undefined);
  }

  private ask(
    method: 'GET' | 'DELETE',
    gateway: GatewayAddress,
    signal: AbortSignal,
  ): Promise<HttpReply> {
    const url = new URL(gateway.url);
    const headers = { accept: 'text/event-stream', ...overStdio };
    const { token } = gateway;
    const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return exchange({
      method,
      url,
      headers,
      credentials,
      redirects: 'leave',
      agents: agentsFor(gateway)({}),
      signal,
    });
  }
}
