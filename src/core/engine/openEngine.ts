/**
 * Opens the engine, the same for every shell: a window, `serve`, `connect`, the engine behind it
 * and a single command (G6d). It assembles the core, follows the config files, keeps the record of
 * calls, delivers results and opens the endpoints. The options of a shell say what is kept and who
 * is asked; `serve` says who may call. Invariants: the endpoints listen before the first server
 * starts (P8b), and close before the core ends; the stores are written last.
 */
import type { Duplex } from 'node:stream';
import { limited } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import type { KeptOffers } from '../catalogue/publication.js';
import type { Stores } from '../host/hostDeps.js';
import type { Program } from '../files/addressFile.js';
import { callFileOf } from '../files/callFile.js';
import { CallFile } from '../files/callWriter.js';
import { configFileOf } from '../files/configFile.js';
import { newToken } from '../files/tokenFile.js';
import type { Gateway, GatewayDeps, StableAddress } from '../gateway/http/gateway.js';
import type { RestBackend } from '../gateway/http/rest.js';
import {
  secretInFile,
  StableEndpoint,
  type EndpointSecret,
} from '../gateway/http/stableEndpoint.js';
import { everyToolset } from '../gateway/routes.js';
import { sentSnapshot } from '../reconcile/sentSnapshot.js';
import { nowhere, type ArtifactStore } from '../results/artifacts.js';
import { Delivery, deliveryWithoutFiles } from '../results/delivery.js';
import { DiskArtifacts } from '../results/diskArtifacts.js';
import { assemble, type Core, type CoreDeps } from '../assembly/assemble.js';
import type { ConfigSources } from './configFiles.js';

export interface EngineOptions extends Omit<CoreDeps, 'readSources' | 'stores'> {
  readonly stores?: Stores & { readonly kept?: KeptOffers & { settled(): Promise<void> } };
  /**
   * The folder whose calls are recorded and whose config file REST requests write; undefined if no
   * folder is open.
   */
  readonly folder: string | undefined;
  readonly home: string;
  /** The time for calls in flight at the end, in milliseconds. By default they are cancelled. */
  readonly finishMs?: number;
  /** By default no file of a result is written. */
  readonly results?: {
    /** The folder for files, existing or not; undefined without a workspace. */
    readonly folder: string | undefined;
    readonly quota: () => number;
    readonly maxResultBytes: () => number;
  };
  /** Returns the reason against writing the config file now. */
  readonly blocked?: (file: string) => string | undefined;
  readonly onFailure: {
    /** The config files were not applied. */
    readonly config: (error: unknown) => void;
    /** The record of calls could not be written. Called once. */
    readonly record: (error: unknown) => void;
  };
}

type Listeners = Pick<GatewayDeps, 'onClient' | 'onConnections'>;

/** The clients of one endpoint. */
export type Audience = { readonly listeners?: Listeners } & (
  | {
      readonly kind: 'editor';
      readonly secret: EndpointSecret;
      /** The client name of the editor; absent if no other client is expected. */
      readonly name?: string | undefined;
    }
  | {
      /** Agents that find the endpoint and its token by a file (G6). They may use REST (G7). */
      readonly kind: 'agents';
      readonly tokenFile: string;
      readonly program: Program;
      /** If it is 0, the system chooses a port. Without it, the endpoint waits for `use`. */
      readonly port?: number;
    }
);

/** A command waits this long for starting servers, in milliseconds (G2e). */
const startLimitMs = 8_000;

export function openEngine(options: EngineOptions): Engine {
  return new Engine(options);
}

export class Engine {
  private following: Disposable | undefined;
  private readonly endpoints: StableEndpoint[] = [];
  /** The gateway without a port. */
  private inside: Gateway | undefined;
  private readonly record: CallFile | undefined;
  private readonly core: Core;
  private readonly artifacts: ArtifactStore | undefined;
  private files: ConfigSources | undefined;
  private rest: Promise<RestBackend> | undefined;
  readonly delivery: Delivery;

  constructor(private readonly options: EngineOptions) {
    const { folder, home, results, surroundings, onFailure } = options;
    const readSources = async (): Promise<void> => await this.files?.readNow();
    this.core = assemble({ ...options, readSources });
    this.artifacts = this.artifactsIn(results);
    this.delivery =
      results && this.artifacts
        ? new Delivery({ ...results, artifacts: this.artifacts })
        : deliveryWithoutFiles();
    if (folder === undefined) return;
    const countedAs = (server: string): string =>
      this.host.snapshot.servers.find(({ id }) => id === server)?.countedAs ?? '';
    const file = callFileOf(folder, home);
    const record = new CallFile(file, surroundings.clock, onFailure.record, countedAs);
    this.core.recorder.onDidRecord((lines) => record.note(lines));
    this.record = record;
  }

  get host(): Core['host'] {
    return this.core.host;
  }

  get backend(): Core['backend'] {
    return this.core.backend;
  }

  get recorder(): Core['recorder'] {
    return this.core.recorder;
  }

  /** Removes secrets from what it writes. */
  get log(): Core['log'] {
    return this.core.log;
  }

  readonly redact = (text: string): string => this.core.redactor.redact(text);

  /** Applies the config files now and after each change. */
  follow(files: ConfigSources): void {
    this.files = files;
    const apply = (): void => {
      if (files.sources) this.host.setSources(files.sources).catch(this.options.onFailure.config);
    };
    this.following = files.onDidChange(apply);
    apply();
  }

  /**
   * Returns an engine for one server and a client without capabilities. It keeps and serves nothing.
   * @param only the id of the server
   */
  plain(only: string): Engine {
    const { surroundings, settings, consent, home, onFailure, stores } = this.options;
    const { secrets, secret } = stores ?? {};
    return new Engine({
      surroundings,
      settings: { ...settings, only, recordsCalls: () => false },
      consent: { ...(consent?.approvals && { approvals: consent.approvals }) },
      stores: { ...(secrets && { secrets }), ...(secret && { secret }) },
      folder: undefined,
      home,
      onFailure,
    });
  }

  /** Opens an endpoint for an audience. The engine closes it. Starts wait until it listens. */
  serve(audience: Audience): StableEndpoint {
    const { clock } = this.options.surroundings;
    const port = audience.kind === 'agents' ? audience.port : 0;
    const endpoint = new StableEndpoint({
      ...(port !== undefined && { port }),
      secret: this.secretOf(audience),
      clock,
      log: this.log,
      keepSecret: (values) => this.core.redactor.register(values),
      createGateway: (stable) => this.gatewayFor(audience, stable),
    });
    this.endpoints.push(endpoint);
    this.core.turns.hold(endpoint.settled());
    return endpoint;
  }

  /**
   * Serves one client in this process, without a port. Resolves to the function that connects it.
   */
  async serveInside(listeners: Listeners): Promise<() => Duplex> {
    const { createGateway } = await import('../gateway/http/gateway.js');
    const { version } = this.options.surroundings;
    const stable = { port: 0, token: newToken() };
    const gateway = createGateway({ ...this.gatewayDeps(), ...listeners }, { version, stable });
    this.inside = gateway;
    return () => gateway.connectInside();
  }

  async dispose(): Promise<void> {
    this.following?.dispose();
    const { finishMs } = this.options;
    await Promise.all([
      this.inside?.dispose(),
      ...this.endpoints.map((endpoint) => endpoint.dispose(finishMs)),
    ]);
    await this.core.dispose();
    await Promise.all([
      this.artifacts?.settled(),
      this.options.stores?.kept?.settled(),
      this.record?.flush(),
    ]);
  }

  private artifactsIn(results: EngineOptions['results']): ArtifactStore | undefined {
    if (!results) return undefined;
    const { folder, quota } = results;
    if (folder === undefined) return nowhere('no folder is open in this window');
    return new DiskArtifacts({
      folder,
      quota,
      clock: this.options.surroundings.clock,
      log: this.log,
    });
  }

  private secretOf(audience: Audience): EndpointSecret {
    switch (audience.kind) {
      case 'editor':
        return audience.secret;
      case 'agents':
        return secretInFile(audience.tokenFile, audience.program, this.options.surroundings.clock);
    }
  }

  private async gatewayFor(audience: Audience, stable: StableAddress): Promise<Gateway> {
    const { version } = this.options.surroundings;
    const { createGateway } = await import('../gateway/http/gateway.js');
    const deps = { ...this.gatewayDeps(), ...audience.listeners };
    if (audience.kind === 'agents')
      return createGateway(
        { ...deps, rest: await this.restBackend(), snapshot: () => this.snapshotForOthers() },
        { version, stable },
      );
    const { name } = audience;
    return createGateway(deps, {
      version,
      stable: { ...stable, audience: 'editor' },
      ...(name !== undefined && { editorName: name }),
    });
  }

  private gatewayDeps(): Pick<GatewayDeps, 'backend' | 'clock' | 'log' | 'delivery'> {
    const { backend, log, delivery } = this;
    return {
      backend,
      clock: this.options.surroundings.clock,
      log,
      delivery,
    };
  }

  /** Of the present files, after the starts if they end in time. */
  private async snapshotForOthers(): Promise<object> {
    await this.files?.readNow();
    const { clock } = this.options.surroundings;
    const settled = (over: AbortSignal): Promise<void> => this.backend.settled(everyToolset, over);
    await limited(clock, startLimitMs, undefined, settled).catch(() => undefined);
    return sentSnapshot(this.host.snapshot);
  }

  /** One for all gateways, because it writes one file by one edit at a time. */
  private restBackend(): Promise<RestBackend> {
    const { folder, blocked, surroundings } = this.options;
    const make = async (): Promise<RestBackend> => {
      const { createRestBackend } = await import('../rest/restBackend.js');
      return createRestBackend(this.host, surroundings.clock, () =>
        folder === undefined ? undefined : configFileOf(folder, blocked),
      );
    };
    this.rest ??= make();
    return this.rest;
  }
}
