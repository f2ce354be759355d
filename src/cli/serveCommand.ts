/**
 * `mcp-toolsets serve` (G6, H1), the engine behind `connect` (G6d), which has no terminal and asks
 * nobody, and `stop`.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock, type Clock } from '../core/base/clock.js';
import type { Disposable } from '../core/base/disposables.js';
import { nextEvent, orAborted, untilAborted } from '../core/base/events.js';
import { waitsForProcesses } from '../core/base/confinement.js';
import { isAlive } from '../core/base/isAlive.js';
import { needsAttention } from '../core/base/problem.js';
import type { Audience } from '../core/engine/openEngine.js';
import { lock } from '../core/files/fileLock.js';
import type { EndpointState, StableEndpoint } from '../core/gateway/http/stableEndpoint.js';
import { version } from '../../package.json';
import {
  clientNames,
  engineIsReady,
  elsewhereLines,
  engineProgram,
  foundEngine,
  keptToken,
  servedBy,
  tokenFileFor,
  type FoundGateway,
} from './gateways.js';
import { servingGuards } from './keptOffers.js';
import type { Options, Words } from './options.js';
import { complain, misuse, newLines, print } from './output.js';
import { inOrder, problemLine, subjectOfProblem } from './render.js';
import { complainOfConfig, withEngine, type Run, type RunningEngine } from './withEngine.js';

const usualPort = '7427';

/** It follows the config files until it ends. */
export async function serveFolder(run: Run, _: Words, options: Options): Promise<number> {
  const {
    port: given = usualPort,
    'approve-edits': approvesEdits,
    'hold-changed': holdChanged,
  } = options;
  const port = /^\d{1,5}$/.test(given) ? Number(given) : NaN;
  if (!(port < 65_536)) return misuse(`"${given}" is not a port. Use a number from 0 to 65535.`);
  const tokenFile = tokenFileFor(run, options);
  if ((await keptToken(tokenFile)) === undefined) return 1;
  const { guards, onClient } = await servingGuards(run.folder, holdChanged);
  return await withEngine(
    {
      ...run,
      ...guards,
      approvesEdits,
    },
    async (running) => {
      const endpoint = await openEndpoint(running, {
        kind: 'agents',
        tokenFile,
        program: { kind: 'serve', version },
        port,
        listeners: { onClient },
      });
      if (typeof endpoint === 'number') return endpoint;
      running.follow();
      tell(run, running, endpoint, tokenFile);
      await untilAborted(running.signal);
      return 0;
    },
  );
}

/**
 * Resolves when the folder is served, or to the exit code after a complaint.
 */
async function openEndpoint(
  { engine, start, signal }: RunningEngine,
  audience: Extract<Audience, { kind: 'agents' }>,
): Promise<StableEndpoint | number> {
  const endpoint = engine.serve(audience);
  start().catch(complainOfConfig);
  const state = await settledState(endpoint, signal);
  if (state.kind === 'listening') return endpoint;
  if (state.kind !== 'portTaken')
    return complain(`Cannot listen: ${state.kind === 'failed' ? state.reason : 'it ended'}.`);
  const by = 'perhaps by an editor or another `serve` of this folder';
  return complain(
    `Port ${audience.port} is taken, ${by}. Stop it, or choose another port with --port.`,
  );
}

/** Resolves to the first state after the start. */
export async function settledState(
  endpoint: StableEndpoint,
  signal: AbortSignal,
): Promise<EndpointState> {
  if (endpoint.state.kind === 'starting') await nextEvent(endpoint.onDidChange, () => true, signal);
  return endpoint.state;
}

function tell(
  run: Run,
  { host, store }: RunningEngine,
  endpoint: StableEndpoint,
  tokenFile: string,
): void {
  const said = newLines(print);
  const complained = newLines(complain, subjectOfProblem);
  const look = (): void => {
    const { state } = endpoint;
    const toolsets = host.catalogue.toolsets.flatMap(({ id, tools }) => {
      const url = endpoint.gateway?.endpoint(id, 'agent').url;
      return url === undefined ? [] : [{ id, url, tools: tools.length }];
    });
    const lines = toolsets.map(
      ({ id, url, tools }) => `${id}  ${url}  ${tools} ${tools === 1 ? 'tool' : 'tools'}`,
    );
    const json = JSON.stringify({
      state: state.kind,
      tokenFile,
      toolsets,
    });
    said(run.json ? [json] : [whereabouts(state, tokenFile), ...lines]);
    complained(inOrder(host.snapshot.problems.filter(needsAttention)).map(problemLine));
  };
  store.add(endpoint.onDidChange(look));
  store.add(host.onDidChange(look));
  look();
}

function whereabouts(state: EndpointState, tokenFile: string): string {
  if (state.kind === 'listening') {
    const lost =
      state.unnoted === undefined ? '' : `. \`connect\` does not find it: ${state.unnoted}.`;
    return `Listening on http://127.0.0.1:${state.port}, the token is in ${tokenFile}${lost}`;
  }
  if (state.kind === 'starting')
    return 'The token was renewed, and clients that used the old one are disconnected.';
  const why =
    state.kind === 'failed' ? state.reason : `port ${state.port} was taken by another program`;
  return `Not listening: ${why}.`;
}

/**
 * How long an engine waits for the next client, in milliseconds. A sandbox that waits for it would
 * not end with its agent.
 */
const lingerMs = waitsForProcesses() ? 2_000 : 60_000;

/**
 * A stopped engine ends its servers first. Waiting for it ends after this time, in milliseconds.
 */
const stopLimitMs = 15_000;

export async function engine(run: Run, _: Words, options: Options): Promise<number> {
  const tokenFile = tokenFileFor(run, options);
  const { guards, onClient } = await servingGuards(run.folder, false);
  const unlock = await lock(`${tokenFile}.engine.lock`, systemClock);
  try {
    // Of two engines that start at once, the second one leaves.
    if (await foundEngine(tokenFile)) return print(engineIsReady);
    return await withEngine(
      {
        ...run,
        ...guards,
        asks: false,
        approve: false,
      },
      async (running) => {
        const visits = running.store.add(visitsOf(systemClock, lingerMs));
        const endpoint = await openEndpoint(running, {
          kind: 'agents',
          tokenFile,
          program: engineProgram,
          port: 0,
          listeners: { onClient, onConnections: visits.note },
        });
        await unlock();
        if (typeof endpoint === 'number') return endpoint;
        running.follow();
        print(engineIsReady);
        await orAborted(untilAborted(visits.ended), running.signal);
        return 0;
      },
    );
  } finally {
    await unlock();
  }
}

/** `note` takes the number of clients. `ended` aborts after a time without clients. */
export function visitsOf(clock: Clock, lingerMs: number) {
  const controller = new AbortController();
  let wait: Disposable | undefined;
  const dispose = (): void => wait?.dispose();
  const note = (open: number): void => {
    dispose();
    wait = open > 0 ? undefined : clock.after(lingerMs, () => controller.abort());
  };
  note(0);
  return {
    ended: controller.signal,
    note,
    dispose,
  };
}

function isEngine({ program }: Pick<FoundGateway, 'program'>): boolean {
  return program.kind === 'engine';
}

export async function stop(run: Run, _: Words, options: Options): Promise<number> {
  const tokenFile = tokenFileFor(run, options);
  const { gateways, elsewhere } = await servedBy(tokenFile);
  const engines = gateways.filter(isEngine);
  for (const line of elsewhereLines(elsewhere.filter(isEngine)))
    complain(`${line} \`mcp-toolsets stop\` ends it only from there.`);
  if (engines.length === 0) return print('No engine serves this folder.');
  for (const { pid } of engines) process.kill(pid, 'SIGTERM');
  const limit = systemClock.now() + stopLimitMs;
  while (engines.some(({ pid }) => isAlive(pid))) {
    const pids = engines.map(({ pid }) => pid).join();
    if (systemClock.now() > limit) return complain(`The engine (process ${pids}) does not end.`);
    await pause(20);
  }
  return print(
    engines
      .map((engine) => {
        const { program, pid } = engine;
        const which = `version ${program.version}, process ${pid}`;
        return `The engine (${which}) has ended. It served ${clientNames(engine)}.`;
      })
      .join('\n'),
  );
}
