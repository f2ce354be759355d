/**
 * Makes the sockets of HTTP requests and decides which way they take. The default agents go straight to the server: the
 * editor itself applies its proxy settings and certificates to all that goes through `node:http`, whatever agent is
 * given. The command line gives agents of its own.
 */
import http from 'node:http';
import https from 'node:https';

export interface HttpAgents {
  for(url: URL): http.Agent;
  /** Returns host and port of the proxy on the way to it, for messages; undefined if none is known here. */
  proxyFor(url: URL): string | undefined;
  /** Ends every socket. */
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
