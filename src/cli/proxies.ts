/** Sends HTTP requests through the proxies of the environment (X2). In an editor, the editor does this. */
import type { Agent, AgentOptions } from 'node:http';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import { isLoopback } from '../core/base/loopback.js';
import { directAgents, type HttpAgents, type MakeAgents } from '../core/connections/http/agents.js';

export const agentsByEnvironment: MakeAgents = (options) => new ProxyAgents(options, proxyOf);

export function proxyOf(url: URL): URL | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const proxy = getProxyForUrl(url.href);
  const parsed = URL.canParse(proxy) ? new URL(proxy) : undefined;
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed : undefined;
}

/** Completes "The proxy of the environment …". The address is not quoted, because it may have a password. */
function unusableProxyOf(url: URL): string | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const proxy = getProxyForUrl(url.href);
  if (proxy === '' || proxyOf(url)) return undefined;
  return URL.canParse(proxy)
    ? `begins with ${new URL(proxy).protocol}//, but only http:// and https:// proxies can be used`
    : 'is not an address';
}

export class ProxyAgents implements HttpAgents {
  private readonly direct: HttpAgents;
  private readonly agents = new Map<string, Agent>();

  constructor(
    private readonly options: AgentOptions,
    private readonly proxyOf: (url: URL) => URL | undefined,
  ) {
    this.direct = directAgents(options);
  }

  for(url: URL): Agent {
    const proxy = this.proxyOf(url);
    if (!proxy) return this.direct.for(url);
    const key = `${url.protocol} ${proxy.href}`;
    const agent =
      this.agents.get(key) ??
      (url.protocol === 'https:' ? new HttpsProxyAgent(proxy, this.options) : new HttpProxyAgent(proxy, this.options));
    this.agents.set(key, agent);
    return agent;
  }

  proxyFor(url: URL): string | undefined {
    return this.proxyOf(url)?.host;
  }

  unusableProxyFor(url: URL): string | undefined {
    return unusableProxyOf(url);
  }

  destroy(): void {
    this.direct.destroy();
    for (const agent of this.agents.values()) agent.destroy();
  }
}
