/**
 * `mcp-toolsets connect` (G6). Agents start it, so it starts only servers that the person approved
 * elsewhere (S1i).
 */
import { systemClock } from '../core/base/clock.js';
import { nextEvent, untilAborted } from '../core/base/events.js';
import { Bridge } from '../core/bridge/bridge.js';
import type { GatewayAddress } from '../core/bridge/line.js';
import { builtInToolset } from '../core/config/model.js';
import { messageOf } from '../core/base/text.js';
import { newToken } from '../core/files/tokenFile.js';
import { version } from '../../package.json';
import { readConfigFiles } from './configFile.js';
import { foundGateway, startEngine, tokenFileFor, type FoundGateway } from './gateways.js';
import { Interruption } from './interruption.js';
import { servingGuards } from './keptOffers.js';
import { settledState } from './serveCommand.js';
import type { Options, Words } from './options.js';
import { complain } from './output.js';
import { problemLine } from './render.js';
import { withEngine, type Run } from './withEngine.js';

export async function connect(run: Run, [toolset]: Words, options: Options): Promise<number> {
  const holdChanged = options['hold-changed'];
  const tokenFile = tokenFileFor(run, options);
  const interruption = new Interruption();
  const ending = new AbortController();
  let own: Promise<GatewayAddress> | undefined;
  let ended: Promise<unknown> | undefined;
  const alone = (): Promise<GatewayAddress> =>
    new Promise((resolve, reject) => {
      ended = serveAlone(run, toolset, holdChanged, {
        signal: ending.signal,
        onReady: resolve,
      }).catch(reject);
    });
  // Another process does not know the options that protect this client (G6d).
  const isAlone = run.permissions.hasOptions || holdChanged;
  const find = async (): Promise<GatewayAddress> => {
    const found = isAlone ? undefined : await joined(run, tokenFile);
    const base = found ? { url: urlOf(found.port), token: found.token } : await (own ??= alone());
    const isConfigured = readConfigFiles(run.folder).sources.some(({ text }) => text !== undefined);
    // Without a config file, the instructions of all toolsets say how to begin.
    return {
      ...base,
      url: `${base.url}/mcp${toolset === undefined || !isConfigured ? '' : `/${toolset}`}`,
    };
  };
  const bridge = new Bridge({
    input: process.stdin,
    output: process.stdout,
    find,
    clock: systemClock,
    log: { write: (level, message) => run.debug && complain(`[${level}] ${message}`) },
    version,
  });
  await bridge.run(interruption.signal);
  ending.abort();
  await ended;
  interruption.dispose();
  return 0;
}

const urlOf = (port: number): string => `http://127.0.0.1:${port}`;

/**
 * Returns the gateway of an editor, of `serve` or of the engine. Starts an engine for a config
 * file, unless one runs.
 */
async function joined(run: Run, tokenFile: string): Promise<FoundGateway | undefined> {
  const found = await foundGateway(tokenFile);
  const { sources, problems } = readConfigFiles(run.folder);
  // This client gets the problems of the files. Without a file, there is nothing to share.
  if (found || problems.length > 0 || sources.every(({ text }) => text === undefined)) return found;
  try {
    await startEngine(run.script, run.folder, tokenFile);
    return await foundGateway(tokenFile);
  } catch (error) {
    complain(
      `The folder is served for this client alone, because no engine could start: ${messageOf(error)}`,
    );
    return undefined;
  }
}

/** @param client the signal aborts when it leaves, and `onReady` takes its address */
async function serveAlone(
  run: Run,
  toolset: string | undefined,
  holdChanged: boolean,
  {
    signal,
    onReady,
  }: { readonly signal: AbortSignal; readonly onReady: (address: GatewayAddress) => void },
): Promise<number> {
  const { problems } = readConfigFiles(run.folder);
  if (problems.length > 0) throw new Error(problems.map(problemLine).join(' '));
  const { guards, onClient } = await servingGuards(run.folder, holdChanged);
  const only = toolset === builtInToolset ? undefined : toolset;
  // The input belongs to the client, which must not answer questions.
  return await withEngine(
    {
      ...run,
      ...guards,
      only,
      asks: false,
      approve: false,
    },
    async (running) => {
      const { engine, host, started, follow } = running;
      const token = newToken();
      const endpoint = engine.serve({
        kind: 'bridge',
        token,
        listeners: { onClient },
      });
      const state = await settledState(endpoint, running.signal);
      if (state.kind !== 'listening')
        throw new Error(state.kind === 'failed' ? state.reason : 'no port is free');
      follow();
      const isThere = (): boolean =>
        toolset === undefined || host.catalogue.toolsets.some(({ id }) => id === toolset);
      if (!isThere()) await Promise.race([started, nextEvent(host.onDidChange, isThere, signal)]);
      onReady({ url: urlOf(state.port), token });
      await untilAborted(signal);
      return 0;
    },
  );
}
