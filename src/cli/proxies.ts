/** Sends HTTP requests through the proxies of the environment (X2). In an editor, the editor does this. */
import type { Agent, AgentOptions } from 'node:http';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import { isLoopback } from '../core/base/loopback.js';
import { directAgents, type HttpAgents, type MakeAgents } from '../core/connections/http/agents.js';

export const agentsByEnvironment: MakeAgents = (options) => new ProxyAgents(options);

/** Returns a text that completes "The proxy of the environment …". It does not quote the address, which may have a password. */
function proxyOfEnvironment(url: URL): URL | string | undefined {
  const proxy = isLoopback(url.hostname) ? '' : getProxyForUrl(url.href);
  if (proxy === '') return undefined;
  if (!URL.canParse(proxy)) return 'is not an address';
  const parsed = new URL(proxy);
  return /^https?:$/.test(parsed.protocol)
    ? parsed
    : `begins with ${parsed.protocol}//, but only http:// and https:// proxies can be used`;
}

export class ProxyAgents implements HttpAgents {
  private readonly direct: HttpAgents;
  private readonly agents = new Map<string, Agent>();

  constructor(
    private readonly options: AgentOptions,
    private readonly proxyOf = proxyOfEnvironment,
  ) {
    this.direct = directAgents(options);
  }

  for(url: URL): Agent {
    const proxy = this.proxyOf(url);
    if (!(proxy instanceof URL)) return this.direct.for(url);
    const key = `${url.protocol} ${proxy.href}`;
    const agent =
      this.agents.get(key) ??
      (url.protocol === 'https:' ? new HttpsProxyAgent(proxy, this.options) : new HttpProxyAgent(proxy, this.options));
    this.agents.set(key, agent);
    return agent;
  }

  proxyFor(url: URL): ReturnType<NonNullable<HttpAgents['proxyFor']>> {
    const proxy = this.proxyOf(url);
    if (proxy instanceof URL) return { kind: 'used', host: proxy.host };
    return proxy === undefined ? undefined : { kind: 'unusable', why: proxy };
  }

  destroy(): void {
    this.direct.destroy();
    for (const agent of this.agents.values()) agent.destroy();
  }
}
