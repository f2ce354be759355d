/**
 * `mcp-toolsets connect` (G6). Agents start it, so it starts only servers that the person approved
 * elsewhere (S1i).
 */
import path from 'node:path';
import { systemClock } from '../core/base/clock.js';
import { nextEvent, untilAborted } from '../core/base/events.js';
import { Bridge } from '../core/bridge/bridge.js';
import type { GatewayAddress } from '../core/bridge/line.js';
import { builtInToolset } from '../core/config/model.js';
import { messageOf } from '../core/base/text.js';
import { version } from '../../package.json';
import { readConfigFiles } from './configFile.js';
import { foundGateway, startEngine, tokenFileFor, type FoundGateway } from './gateways.js';
import { Interruption } from './interruption.js';
import { servingGuards } from './keptOffers.js';
import { lostCallsOf } from './lostCalls.js';
import { limitsLine, sandboxLimits } from './sandboxLimits.js';
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
  const alone = (records: boolean): Promise<GatewayAddress> =>
    new Promise((resolve, reject) => {
      ended = serveAlone({ ...run, records }, toolset, holdChanged, {
        signal: ending.signal,
        onReady: resolve,
      }).catch(reject);
    });
  // Another process does not know the options that protect this client (G6d).
  const isAlone = run.permissions.hasOptions || holdChanged || run.withoutLocal === true;
  const find = async (): Promise<GatewayAddress> => {
    const joined = own || isAlone ? aloneHere : await join(run, tokenFile);
    const base = joined.kind === 'gateway' ? joined.address : await (own ??= alone(joined.records));
    const isConfigured = readConfigFiles(run).sources.some(({ text }) => text !== undefined);
    // Without a config file, the instructions of all toolsets say how to begin.
    return {
      ...base,
      url: `${base.url}/mcp${toolset === undefined || !isConfigured ? '' : `/${toolset}`}`,
    };
  };
  const lost = lostCallsOf(run.folder, toolset);
  const bridge = new Bridge({
    input: process.stdin,
    output: process.stdout,
    find,
    onLost: lost.note,
    clock: systemClock,
    log: { write: (level, message) => run.debug && complain(`[${level}] ${message}`) },
    version,
  });
  await bridge.run(interruption.signal);
  await lost.settled();
  ending.abort();
  await ended;
  interruption.dispose();
  return 0;
}

type Joined =
  | { readonly kind: 'gateway'; readonly address: GatewayAddress }
  | { readonly kind: 'alone'; readonly records: boolean };

const aloneHere: Joined = { kind: 'alone', records: true };

/**
 * Resolves to the gateway of an editor, of `serve` or of the engine. Starts an engine for a config
 * file, unless one runs.
 */
async function join(run: Run, tokenFile: string): Promise<Joined> {
  const found = await foundGateway(tokenFile);
  if (found) return joinedAt(found);
  const { sources, problems } = readConfigFiles(run);
  // This client gets the problems of the files. Without a file, there is nothing to share.
  if (problems.length > 0 || sources.every(({ text }) => text === undefined)) return aloneHere;
  const folder = path.dirname(tokenFile);
  const limits = await sandboxLimits(folder);
  const line = limitsLine(limits, folder);
  if (line !== undefined) {
    complain(line);
    return { kind: 'alone', records: limits.writing === undefined };
  }
  try {
    await startEngine(run, tokenFile);
    const started = await foundGateway(tokenFile);
    return started ? joinedAt(started) : aloneHere;
  } catch (error) {
    complain(
      `The folder is served for this client alone, because no engine could start: ${messageOf(error)}`,
    );
    return aloneHere;
  }
}

function joinedAt({ port, token }: FoundGateway): Joined {
  return { kind: 'gateway', address: { url: `http://127.0.0.1:${port}`, token } };
}

/** Appears in errors only, because no name is looked up. */
const urlInside = 'http://mcp-toolsets';

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
  const { problems } = readConfigFiles(run);
  if (problems.length > 0) throw new Error(problems.map(problemLine).join(' '));
  const access = run.records === false ? 'read' : 'note';
  const { guards, onClient } = await servingGuards(run.folder, holdChanged, access);
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
      const { engine, host, start, follow } = running;
      const started = start();
      const connect = await engine.serveInside({ onClient });
      follow();
      const isThere = (): boolean =>
        toolset === undefined || host.catalogue.toolsets.some(({ id }) => id === toolset);
      if (!isThere()) await Promise.race([started, nextEvent(host.onDidChange, isThere, signal)]);
      onReady({ url: urlInside, connect });
      await untilAborted(signal);
      return 0;
    },
  );
}
