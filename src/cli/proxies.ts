/**
 * Sends HTTP requests through the proxies of the environment (X2). In an editor, the editor does
 * this.
 */
import type { Agent, AgentOptions } from 'node:http';
import { setMaxListeners } from 'node:events';
import { BlockList, isIP } from 'node:net';
import tls from 'node:tls';
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
  const proxy = isLoopback(url.hostname) || isInExempt(url) ? '' : getProxyForUrl(url.href);
  if (proxy === '') return undefined;
  if (!URL.canParse(proxy)) return 'is not an address';
  const parsed = new URL(proxy);
  return /^https?:$/.test(parsed.protocol)
    ? parsed
    : `begins with ${parsed.protocol}//, but only http:// and https:// proxies can be used`;
}

const isEncrypted = ({ protocol }: URL): boolean => protocol === 'https:';

/** Other programs take networks in NO_PROXY too, such as 10.0.0.0/8. */
function isInExempt({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  const family = familyOf(host);
  const networks = new BlockList();
  const exempt = process.env['no_proxy'] || process.env['NO_PROXY'] || '';
  for (const each of exempt.split(/[,\s]/)) {
    const [address = '', bits = ''] = each.split('/');
    const isNetwork = isIP(address) > 0 && /^\d{1,3}$/.test(bits);
    const most = familyOf(address) === 'ipv4' ? 32 : 128;
    if (isNetwork && Number(bits) <= most)
      networks.addSubnet(address, Number(bits), familyOf(address));
  }
  return isIP(host) > 0 && networks.check(host, family);
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** Node 22.15 can read the certificates of the system. */
const bySystem =
  'getCACertificates' in tls
    ? ', or trust it in the system and set NODE_OPTIONS=--use-system-ca there'
    : '';
const trust = `Write the certificate of that authority into a file (PEM), and set NODE_EXTRA_CA_CERTS to its path in the environment of this command${bySystem}. The list of the system does not count without that.`;

export function proxyAgents(
  options: AgentOptions,
  proxyOf = proxyOfEnvironment,
): Required<HttpAgents> {
  const direct = directAgents(options);
  const agents = new Map<string, Agent>();
  // A socket with a signal has a listener. Without it, the error of a proxy that closes during the
  // handshake would end the process.
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  return {
    trust,
    for: (url) => {
      const proxy = proxyOf(url);
      if (!(proxy instanceof URL)) return direct.for(url);
      const key = `${url.protocol} ${proxy.href}`;
      const agent =
        agents.get(key) ??
        (url.protocol === 'https:'
          ? new HttpsProxyAgent(proxy, isEncrypted(proxy) ? { ...options, signal } : options)
          : new HttpProxyAgent(proxy, options));
      agents.set(key, agent);
      return agent;
    },
    proxyFor: (url) => {
      const proxy = proxyOf(url);
      if (proxy instanceof URL)
        return { kind: 'used', host: isEncrypted(proxy) ? proxy.origin : proxy.host };
      return proxy === undefined ? undefined : { kind: 'unusable', why: proxy };
    },
    destroy: () => {
      direct.destroy();
      for (const agent of agents.values()) agent.destroy();
    },
  };
}
