/**
 * The separate address of one client at the gateway (G3), because the modern era has no session to identify its
 * conversation. It is kept open as long as the client lives, and given back at its end (L2a).
 */
import { randomBytes } from 'node:crypto';
import { finished } from 'node:stream/promises';
import { directAgents } from '../connections/http/agents.js';
import { exchange, type HttpReply } from '../connections/http/exchange.js';
import type { GatewayAddress } from './line.js';

/** Tells a gateway about a conversation begun at another one. */
export const begunElsewhere = 'mcp-toolsets-begun-elsewhere';

/** The limit for giving back the address, in milliseconds. */
const endLimitMs = 2_000;

export class OwnAddress {
  private readonly id = randomBytes(16).toString('base64url');
  private gateway: GatewayAddress | undefined;
  private attendance = new AbortController();
  private readonly agents = directAgents({});

  at({ url, token }: GatewayAddress): GatewayAddress {
    return { url: `${url}/c/${this.id}`, token };
  }

  /** Holds the address open until it is given back, or the gateway goes. */
  attend(gateway: GatewayAddress): void {
    this.attendance.abort();
    this.attendance = new AbortController();
    this.gateway = gateway;
    void this.listen(gateway, this.attendance.signal);
  }

  /** Never rejects. */
  async giveBack(): Promise<void> {
    this.attendance.abort();
    const given = this.gateway && this.ask('DELETE', this.gateway, AbortSignal.timeout(endLimitMs));
    await given?.then(({ body }) => body.destroy()).catch(() => undefined);
  }

  private async listen(gateway: GatewayAddress, signal: AbortSignal): Promise<void> {
    try {
      const { body } = await this.ask('GET', gateway, signal);
      // The stream has only signs of life.
      await finished(body.resume());
    } catch {
      // The next message finds the gateway again, and opens the address there.
    }
  }

  private ask(method: 'GET' | 'DELETE', gateway: GatewayAddress, signal: AbortSignal): Promise<HttpReply> {
    const url = new URL(gateway.url);
    return exchange({
      method,
      url,
      headers: { accept: 'text/event-stream' },
      credentials: { authorization: `Bearer ${gateway.token}` },
      redirects: 'leave',
      agents: this.agents,
      signal,
    });
  }
}
