/**
 * Sends HTTP requests through the proxies of the environment (X2). In an editor, the editor does
 * this.
 */
import type { Agent, AgentOptions } from 'node:http';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import { isLoopback } from '../core/base/loopback.js';
import { directAgents, type HttpAgents } from '../core/connections/http/agents.js';

/**
 * Returns a text that completes "The proxy of the environment …". It does not quote the address,
 * which may have a password.
 */
function proxyOfEnvironment(url: URL): URL | string | undefined {
  const proxy = isLoopback(url.hostname) ? '' : getProxyForUrl(url.href);
  if (proxy === '') return undefined;
  if (!URL.canParse(proxy)) return 'is not an address';
  const parsed = new URL(proxy);
  return /^https?:$/.test(parsed.protocol)
    ? parsed
    : `begins with ${parsed.protocol}//, but only http:// and https:// proxies can be used`;
}

export function proxyAgents(
  options: AgentOptions,
  proxyOf = proxyOfEnvironment,
): Required<HttpAgents> {
  const direct = directAgents(options);
  const agents = new Map<string, Agent>();
  return {
    for: (url) => {
      const proxy = proxyOf(url);
      if (!(proxy instanceof URL)) return direct.for(url);
      const key = `${url.protocol} ${proxy.href}`;
      const agent =
        agents.get(key) ??
        (url.protocol === 'https:'
          ? new HttpsProxyAgent(proxy, options)
          : new HttpProxyAgent(proxy, options));
      agents.set(key, agent);
      return agent;
    },
    proxyFor: (url) => {
      const proxy = proxyOf(url);
      if (proxy instanceof URL) return { kind: 'used', host: proxy.host };
      return proxy === undefined ? undefined : { kind: 'unusable', why: proxy };
    },
    destroy: () => {
      direct.destroy();
      for (const agent of agents.values()) agent.destroy();
    },
  };
}
