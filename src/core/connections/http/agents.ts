/**
 * The sockets of HTTP requests and their route. The default agents connect directly, because the editor applies its
 * proxy settings and certificates to everything in `node:http`. The command line gives other agents.
 */
import http from 'node:http';
import https from 'node:https';
import type { ProxyOnTheWay } from '../../failures/transportFailure.js';

export interface HttpAgents {
  for(url: URL): http.Agent;
  /** Returns the proxy on the way, for messages; absent if none is known here. */
  proxyFor?(url: URL): ProxyOnTheWay | undefined;
  destroy(): void;
}

export type MakeAgents = (options: http.AgentOptions) => HttpAgents;

export const directAgents: MakeAgents = (options) => {
  const [plain, secure] = [new http.Agent(options), new https.Agent(options)];
  return {
    for: ({ protocol }) => (protocol === 'https:' ? secure : plain),
    destroy: () => {
      plain.destroy();
      secure.destroy();
    },
  };
};
