/**
 * The sockets of HTTP requests, and the way they take. Straight by default: in the editor it is the editor that sends what
 * goes through `node:http` by its proxy settings and certificates, whatever agent is given. Others give agents of their own.
 */
import http from 'node:http';
import https from 'node:https';

export interface HttpAgents {
  for(url: URL): http.Agent;
  /** Host and port of the proxy on the way to it, for messages; undefined: none that is known here. */
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
