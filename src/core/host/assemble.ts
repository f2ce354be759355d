/**
 * The composition root of the core: the one place that makes a host with its connector, its sign-ins and the backend of
 * its gateways. The extension, the command line and the tests differ only in the options. Whoever makes a gateway
 * closes it, before or while the core is disposed of.
 */
import { statSync } from 'node:fs';
import { Redactor, redactingLog, type Log } from '../base/log.js';
import type { Disposable } from '../base/disposables.js';
import type { MakeAgents } from '../connections/http/agents.js';
import type { SecretStore } from '../connections/http/oauth/contract.js';
import { OAuth } from '../connections/http/oauth/oauth.js';
import type { GatewayBackend } from '../gateway/backend.js';
import { createConnector } from './createConnector.js';
import { createGatewayBackend } from './gatewayBackend.js';
import { createHost } from './host.js';
import type { Connector } from '../connections/connection.js';
import type { Host, HostDeps } from './hostContract.js';

type OwnDeps = 'connector' | 'redactor' | 'signIns' | 'directoryExists';

export interface CoreDeps extends Omit<HostDeps, OwnDeps> {
  /** Says whether JSON-RPC is written to the servers' logs; asked for each message. */
  readonly trace?: () => boolean;
  /** The version of this product. */
  readonly version: string;
  /** The path of the bundled guardian. */
  readonly guardianScript?: string;
  /** Keeps sign-ins to HTTP servers. By default there are none. */
  readonly secrets?: SecretStore;
  /** Makes the sockets for HTTP servers, by way of proxies or not. */
  readonly agents?: MakeAgents;
  /** Starts servers. By default it is the connector of the product. */
  readonly connector?: Connector;
  readonly directoryExists?: (path: string) => boolean;
}

export interface Core {
  readonly host: Host;
  readonly backend: GatewayBackend;
  /** Knows the secrets of the configuration, and takes them out of a text. */
  readonly redactor: Redactor;
  /** The host's log, redacted. */
  readonly log: Log;
  /** Resolves when nothing that the core started runs any more. It may be called again. */
  dispose(): Promise<void>;
}

export function assemble(deps: CoreDeps): Core {
  const { clock, env, version, secrets, agents } = deps;
  const redactor = new Redactor();
  const log = redactingLog(deps.log, redactor);
  const keepSecret = (values: readonly string[]): Disposable => redactor.register(values);
  const oauth =
    secrets && new OAuth({ secrets, clock, log, keepSecret, clientVersion: version, ...(agents && { agents }) });
  const connector =
    deps.connector ??
    createConnector({
      oauth,
      agents,
      keepSecret,
      env,
      clock,
      trace: deps.trace ?? ((): boolean => false),
      clientVersion: version,
      guardianScript: deps.guardianScript,
    });
  const host = createHost({
    directoryExists,
    ...deps,
    redactor,
    connector,
    ...(oauth && { signIns: oauth }),
  });
  const backend = createGatewayBackend(host);
  const end = async (): Promise<void> => {
    await host.dispose();
    backend.dispose();
    await connector.dispose();
    oauth?.dispose();
  };
  let disposal: Promise<void> | undefined;
  return { host, backend, redactor, log, dispose: () => (disposal ??= end()) };
}

/** Says whether a folder exists in which a server could run. */
export function directoryExists(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}
