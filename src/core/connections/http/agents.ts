/**
 * The sockets of HTTP requests and their route. The default agents connect directly, because the editor applies its
 * proxy settings and certificates to everything in `node:http`. The command line gives other agents.
 */
import http from 'node:http';
import https from 'node:https';

export interface HttpAgents {
  for(url: URL): http.Agent;
  /** Returns host and port of the proxy on the way, for messages; undefined if none is known here. */
  proxyFor(url: URL): string | undefined;
  /** Completes "The proxy of the environment …" for a proxy that should be on the way, but cannot be used. */
  unusableProxyFor?(url: URL): string | undefined;
  destroy(): void;
}

export type MakeAgents = (options: http.AgentOptions) => HttpAgents;

export const directAgents: MakeAgents = (options) => {
  const [plain, secure] = [new http.Agent(options), new https.Agent(options)];
  return {
    for: ({ protocol }) => (protocol === 'https:' ? secure : plain),
    proxyFor: () => undefined,
    destroy: () => {
      plain.destroy();
      secure.destroy();
    },
  };
};
