/**
 * Joins host and gateways into the working part of a window, which brings the YAML parser and much
 * else (P1).
 */
import { messageOf } from '../../core/base/text.js';
import { CallFile, callFileOf } from '../../core/files/callFile.js';
import { Emitter } from '../../core/base/events.js';
import type { GatewayDeps, GatewayOptions } from '../../core/gateway/http/gateway.js';
import type { RestBackend } from '../../core/gateway/http/rest.js';
import { createConversationTools } from '../../core/host/conversationTools.js';
import { configFileOf } from '../../core/files/configFile.js';
import { tokenFileOf } from '../../core/files/tokenFile.js';
import { secretInFile, StableEndpoint } from '../../core/gateway/http/stableEndpoint.js';
import { KeptAddress, type EditorAddress } from './editorEndpoint.js';
import { assemble } from '../../core/host/assemble.js';
import type {
  Consent,
  HostSettings,
  KeptOffers,
  Stores,
  Surroundings,
} from '../../core/host/hostContract.js';
import type { ToolsetRequest } from '../../core/protocol/request.js';
import type { ExpectedClient, Fields } from '../../core/protocol/client.js';
import { nowhere } from '../../core/results/artifacts.js';
import { Delivery } from '../../core/results/delivery.js';
import { DiskArtifacts } from '../../core/results/diskArtifacts.js';

export interface EngineDeps extends Surroundings, HostSettings, Consent, Stores {
  /** Keeps the lists of servers for the next window. By default nothing is kept. */
  readonly kept?: KeptOffers & { settled(): Promise<void> };
  readonly readSources: () => Promise<void>;
  /** Predicts the capabilities of the editor, and notes those it declares. */
  readonly editor: { expected(): ExpectedClient; note(capabilities: Fields): void };
  readonly address: EditorAddress;
  readonly others: AgentsOptions;
  readonly results: {
    /** The folder for files, existing or not; undefined without a workspace. */
    readonly folder: string | undefined;
    readonly quota: () => number;
    readonly maxResultBytes: () => number;
  };
}

export interface AgentsOptions {
  /** The folder whose config file REST requests write; undefined if no folder is open. */
  readonly folder: string | undefined;
  readonly home: string;
  /** Returns the reason against writing the config file now. */
  readonly blocked: (file: string) => string | undefined;
}

export type Engine = ReturnType<typeof createEngine>;

export function createEngine(deps: EngineDeps) {
  const { clock, log, version, readSources, editor, address, results } = deps;
  const { folder, home, blocked } = deps.others;
  const parts = { surroundings: deps, settings: deps, consent: deps, stores: deps };
  const core = assemble({ ...parts, readSources, expectedClient: editor.expected });
  const { host, backend, redactor, recorder, log: hostLog } = core;
  const { folder: artifactsFolder, quota, maxResultBytes } = results;
  const artifacts =
    artifactsFolder === undefined
      ? nowhere('no folder is open in this window')
      : new DiskArtifacts({ folder: artifactsFolder, quota, clock, log: hostLog });
  const delivery = new Delivery({ artifacts, maxResultBytes });
  const shared = {
    clock,
    log: hostLog,
    keepSecret: (values: readonly string[]) => redactor.register(values),
  };
  const gatewayWith = async (
    own: Omit<GatewayOptions, 'version'>,
    more: Pick<GatewayDeps, 'rest' | 'onClient'>,
  ) => {
    const { createGateway } = await import('../../core/gateway/http/gateway.js');
    return createGateway({ backend, clock, log: hostLog, delivery, ...more }, { version, ...own });
  };
  const configFile = () => (folder === undefined ? undefined : configFileOf(folder, blocked));
  let rest: RestBackend | undefined;
  const tokenFile = tokenFileOf(folder ?? home, home);
  const endpoint = new StableEndpoint({
    ...shared,
    secret: secretInFile(tokenFile, { kind: 'editor', version }, clock),
    createGateway: async (stable) => {
      const { createRestBackend } = await import('../../core/host/restBackend.js');
      return await gatewayWith(
        { stable },
        { rest: (rest ??= createRestBackend(host, clock, configFile)) },
      );
    },
  });
  endpoint.onDidChange((state) => {
    if (state.kind !== 'listening') return;
    const place = `127.0.0.1:${state.port}`;
    hostLog.write(
      'info',
      `Agents outside the editor are served on ${place}; the token is in ${tokenFile}`,
    );
  });
  const notRecorded = (error: unknown): void =>
    hostLog.write('warn', `The record of calls could not be written: ${messageOf(error)}`);
  const record =
    folder === undefined ? undefined : new CallFile(callFileOf(folder, home), clock, notRecorded);
  recorder.onDidRecord((lines) => record?.note(lines));

  let servesAgentHost = false;
  const agentHostBegan = new Emitter<void>();
  const onClient: GatewayDeps['onClient'] = (kind, capabilities) => {
    if (kind === 'editor') editor.note(capabilities);
    if (kind !== 'agentHost' || servesAgentHost) return;
    servesAgentHost = true;
    agentHostBegan.fire();
  };
  const kept = new KeptAddress(address, clock, hostLog);
  const editorEndpoint = new StableEndpoint({
    ...shared,
    port: 0,
    secret: kept,
    createGateway: (stable) => {
      const named = address.editor !== undefined && { editorName: address.editor };
      return gatewayWith({ stable: { ...stable, audience: 'editor' }, ...named }, { onClient });
    },
  });
  editorEndpoint.onDidChange((state) => {
    if (state.kind === 'listening')
      log.write('info', `The gateway listens on 127.0.0.1:${state.port}`);
  });

  return {
    host,
    redact: (text: string) => redactor.redact(text),
    editorEndpoint,
    renewEditorToken: () => kept.renew(),
    get servesAgentHost(): boolean {
      return servesAgentHost;
    },
    onDidServeAgentHost: agentHostBegan.event,
    /** The endpoint for agents outside the editor. It does not begin before it is given a port. */
    endpoint,
    tokenFile,
    conversationTools: createConversationTools(host, delivery),
    recorder,
    request: (request: ToolsetRequest) => backend.request(request),
    dispose: async (): Promise<void> => {
      await Promise.all([editorEndpoint.dispose(), core.dispose(), endpoint.dispose()]);
      await Promise.all([artifacts.settled(), deps.kept?.settled(), record?.flush()]);
    },
  };
}
