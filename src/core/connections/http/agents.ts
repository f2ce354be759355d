/**
 * The default agents connect directly: the editor applies its proxy and certificates to all of
 * `node:http`.
 */
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import type { ProxyOnTheWay } from '../../failures/transportFailure.js';

export interface HttpAgents {
  for(url: URL): http.Agent;
  proxyFor?(url: URL): ProxyOnTheWay | undefined;
  /** How to trust a certificate, as a sentence, if the system's list does not count. */
  readonly trust?: string;
  destroy(): void;
}

export type MakeAgents = (options: http.AgentOptions) => HttpAgents;

/** Agents that take their connections from a gateway in this process. */
export function agentsOver(connect: () => Duplex): MakeAgents {
  return (options) => {
    const agent = new http.Agent(options);
    // Node's types know only sockets here, and its code takes any stream.
    (agent as { createConnection: unknown }).createConnection = connect;
    return { for: () => agent, destroy: () => agent.destroy() };
  };
}

export const directAgents: MakeAgents = (options) => {
  const plain = new http.Agent(options);
  const secure = new https.Agent(options);
  return {
    for: ({ protocol }) => (protocol === 'https:' ? secure : plain),
    destroy: () => {
      plain.destroy();
      secure.destroy();
    },
  };
};
