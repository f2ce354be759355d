/**
 * The composition root of the core. A maker of a gateway closes it before or while the core is
 * disposed of.
 */
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { describeLaunch } from '../approval/fingerprint.js';
import { type Log, Redactor, redactingLog } from '../base/log.js';
import type { Disposable } from '../base/disposables.js';
import { Recorder } from '../calls/recorder.js';
import type { Clock } from '../base/clock.js';
import type { ConfigDeps } from '../config/model.js';
import type { Connector } from '../connections/connection.js';
import type { MakeAgents } from '../connections/http/agents.js';
import { FirstSeen } from '../connections/firstSeen.js';
import { OAuth } from '../connections/http/oauth/oauth.js';
import { isTracked } from '../approval/gitIndex.js';
import { LimitedConnector } from '../instances/limit.js';
import type { Services } from '../instances/services.js';
import { StartTurns } from '../instances/startTurns.js';
import { decidingFinder } from '../packages/decidingFiles.js';
import { withoutNpm } from '../processes/environment.js';
import { programFinder, workspaceRoots } from '../processes/workspacePrograms.js';
import { type ExpectedClient, noClient } from '../protocol/client.js';
import type { ConnectorDeps } from '../connector/createConnector.js';
import { CatalogueBackend } from '../calling/gatewayBackend.js';
import { createHost } from '../host/host.js';
import type { Consent, HostSettings, Stores } from '../host/hostDeps.js';
import { launchFor } from '../catalogue/publication.js';
import type { Host } from '../calling/hostContract.js';

export interface Surroundings {
  readonly clock: Clock;
  /** The sink of the core's own log. The core redacts. */
  readonly log: Log;
  readonly serverLog: (server: string) => Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly guardianScript?: string;
  readonly directoryExists?: (path: string) => boolean;
  /** In [0, 1). The default is `Math.random`. */
  readonly random?: () => number;
  readonly makeAgents?: MakeAgents;
}

export interface CoreDeps {
  readonly surroundings: Surroundings;
  readonly settings: HostSettings;
  readonly consent?: Consent;
  readonly stores?: Stores;
  readonly readSources?: () => Promise<void>;
  readonly expectedClient?: () => ExpectedClient;
  readonly connector?: Connector;
}

export type Core = ReturnType<typeof assemble>;

export function assemble(deps: CoreDeps) {
  const {
    surroundings,
    settings,
    consent = {},
    stores = {},
    expectedClient = () => noClient,
    readSources,
  } = deps;
  const {
    clock,
    version: clientVersion,
    makeAgents: agents,
    guardianScript,
    random = Math.random,
  } = surroundings;
  const env = withoutNpm(surroundings.env);
  const { trace = (): boolean => false, maxInstances = (): undefined => undefined } = settings;
  const { kept, conversations, secrets, secret } = stores;
  const redactor = new Redactor();
  const log = redactingLog(surroundings.log, redactor);
  const keepSecret = (values: readonly string[]): Disposable => redactor.register(values);
  const oauth =
    secrets &&
    new OAuth({
      secrets,
      clock,
      log,
      keepSecret,
      clientVersion,
      ...(agents && { agents }),
    });
  const connectorDeps = {
    oauth,
    agents,
    keepSecret,
    env,
    clock,
    trace,
    clientVersion,
    guardianScript,
  };
  let roots: readonly string[] = [];
  const connector = deps.connector ?? withFirstStart(connectorDeps, () => roots);
  const recorder = new Recorder({
    clock,
    redactor,
    isWanted: settings.recordsCalls ?? ((): boolean => true),
  });
  const serverLog = (server: string): Log =>
    redactingLog(recorder.listening(server, surroundings.serverLog(server)), redactor);
  const turns = new StartTurns(clock, settings.startsAtOnce ?? availableParallelism());
  const limited = new LimitedConnector(connector, clock, log, maxInstances);
  const firstSeen = new FirstSeen((definition, declared) => ({
    tools: kept?.recall(describeLaunch(definition).fingerprint)?.listing.tools ?? [],
    seen: consent.offerReview?.orderOf(launchFor(definition, declared)) ?? [],
  }));
  const shared = {
    clock,
    log,
    serverLog,
    redactor,
    recorder,
    random,
    turns,
    firstSeen,
    expectedClient,
    conversations,
  };
  const services: Services = { ...shared, connector: limited };
  const exists = surroundings.directoryExists ?? directoryExists;
  const findersFor: ConfigDeps['findersFor'] = (sources) => {
    roots = workspaceRoots(sources);
    return { programs: programFinder(roots, env), deciding: decidingFinder(roots) };
  };
  const configDeps = {
    env,
    directoryExists: exists,
    findersFor,
    isTracked,
    ...(secret && { secret }),
  };
  const host: Host = createHost({
    services,
    settings,
    consent,
    kept,
    signIns: oauth,
    configDeps,
    readSources,
  });
  const backend = new CatalogueBackend(host);
  const end = async (): Promise<void> => {
    await host.dispose();
    backend.dispose();
    await connector.dispose();
    oauth?.dispose();
    recorder.dispose();
  };
  let disposal: Promise<void> | undefined;
  return {
    host,
    backend,
    redactor,
    log,
    recorder,
    turns,
    dispose: () => (disposal ??= end()),
  };
}

/**
 * Loads the connector with the first start, because remembered lists are published without it (P8).
 */
function withFirstStart(deps: ConnectorDeps, roots: () => readonly string[]): Connector {
  let made: Promise<Connector> | undefined;
  const make = async (): Promise<Connector> =>
    (await import('../connector/createConnector.js')).createConnector(deps, undefined, roots);
  return {
    connect: async (request) => await (await (made ??= make())).connect(request),
    dispose: async () => await (await made)?.dispose(),
  };
}

export function directoryExists(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}
