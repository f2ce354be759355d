/**
 * `mcp-toolsets serve` (G6, H1), the engine behind `connect` (G6d), which has no terminal and asks
 * nobody, and `stop`.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock, type Clock } from '../core/base/clock.js';
import type { Disposable } from '../core/base/disposables.js';
import { nextEvent, orAborted, untilAborted } from '../core/base/events.js';
import { isAlive } from '../core/base/isAlive.js';
import { needsAttention } from '../core/base/problem.js';
import { asText } from '../core/base/text.js';
import { addressFileOf, type Program } from '../core/files/addressFile.js';
import { configFileOf } from '../core/files/configFile.js';
import { lock } from '../core/files/fileLock.js';
import {
  secretInFile,
  StableEndpoint,
  type EndpointState,
} from '../core/gateway/http/stableEndpoint.js';
import { createGateway, type GatewayDeps } from '../core/gateway/http/gateway.js';
import { createRestBackend } from '../core/host/restBackend.js';
import { version } from '../../package.json';
import {
  clientNames,
  engineIsReady,
  engineProgram,
  foundGateway,
  servedBy,
  tokenFileFor,
} from './gateways.js';
import { servingGuards } from './keptOffers.js';
import type { Options, Words } from './options.js';
import { complain, misuse, newLines, print } from './output.js';
import { inOrder, problemLine, subjectOfProblem } from './render.js';
import { withHost, type Run, type RunningHost } from './withHost.js';

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
  const { guards, onClient } = await servingGuards(run.folder, holdChanged);
  return await withHost({ ...run, ...guards, approvesEdits }, async (running) => {
    const program = { kind: 'serve', version } as const;
    const endpoint = await openEndpoint(run, running, { port, tokenFile, program, onClient });
    if (typeof endpoint === 'number') return endpoint;
    running.follow();
    tell(run, running, endpoint, tokenFile);
    await untilAborted(running.signal);
    return 0;
  });
}

interface Served extends Pick<GatewayDeps, 'onClient' | 'onConnections'> {
  /** If it is 0, the system chooses a port. */
  readonly port: number;
  readonly tokenFile: string;
  readonly program: Program;
}

/**
 * Resolves when the folder is served, or to the exit code after a complaint. The endpoint ends
 * before the host.
 */
async function openEndpoint(
  run: Run,
  running: RunningHost,
  served: Served,
): Promise<StableEndpoint | number> {
  const { port, tokenFile, program, ...listeners } = served;
  const { core, host, started, signal, closeFirst } = running;
  const { backend, log, redactor } = core;
  const rest = createRestBackend(host, systemClock, () => configFileOf(run.folder));
  const gateway = { backend, log, clock: systemClock, rest, ...listeners };
  const endpoint = new StableEndpoint({
    port,
    secret: secretInFile(tokenFile, program, systemClock),
    clock: systemClock,
    log,
    keepSecret: (values) => redactor.register(values),
    createGateway: (stable) => createGateway(gateway, { version, stable }),
  });
  closeFirst(() => endpoint.dispose());
  started.catch((error: unknown) =>
    complain(`The config files were not applied: ${asText(error)}`),
  );
  if (endpoint.state.kind === 'starting') await nextEvent(endpoint.onDidChange, () => true, signal);
  const { state } = endpoint;
  if (state.kind === 'listening') return endpoint;
  if (state.kind !== 'portTaken')
    return complain(`Cannot listen: ${state.kind === 'failed' ? state.reason : 'it ended'}.`);
  const by = 'perhaps by an editor or another `serve` of this folder';
  return complain(`Port ${port} is taken, ${by}. Stop it, or choose another port with --port.`);
}

function tell(
  run: Run,
  { host, store }: RunningHost,
  endpoint: StableEndpoint,
  tokenFile: string,
): void {
  const said = newLines(print);
  const complained = newLines(complain, subjectOfProblem);
  const look = (): void => {
    const { state } = endpoint;
    const toolsets = host.catalogue.toolsets.flatMap(({ id, tools }) => {
      const url = endpoint.gateway?.endpoint(id, 'plain').url;
      return url === undefined ? [] : [{ id, url, tools: tools.length }];
    });
    const lines = toolsets.map(
      ({ id, url, tools }) => `${id}  ${url}  ${tools} ${tools === 1 ? 'tool' : 'tools'}`,
    );
    const json = JSON.stringify({ state: state.kind, tokenFile, toolsets });
    said(run.json ? [json] : [whereabouts(state, tokenFile), ...lines]);
    complained(inOrder(host.snapshot.problems.filter(needsAttention)).map(problemLine));
  };
  store.add(endpoint.onDidChange(look));
  store.add(host.onDidChange(look));
  look();
}

function whereabouts(state: EndpointState, tokenFile: string): string {
  if (state.kind === 'listening') {
    return `Listening on http://127.0.0.1:${state.port}, the token is in ${tokenFile}`;
  }
  if (state.kind === 'starting')
    return 'The token was renewed, and clients that used the old one are disconnected.';
  const why =
    state.kind === 'failed' ? state.reason : `port ${state.port} was taken by another program`;
  return `Not listening: ${why}.`;
}

/** How long an engine waits for the next client, in milliseconds. */
const lingerMs = 60_000;

/**
 * A stopped engine ends its servers first. Waiting for it ends after this time, in milliseconds.
 */
const stopLimitMs = 15_000;

export async function engine(run: Run, _: Words, options: Options): Promise<number> {
  const tokenFile = tokenFileFor(run, options);
  const { guards, onClient } = await servingGuards(run.folder, false);
  const unlock = await lock(`${addressFileOf(tokenFile, engineProgram)}.lock`, systemClock);
  try {
    // Of two engines that start at once, the second one leaves.
    if (await foundGateway(tokenFile, [engineProgram])) return print(engineIsReady);
    return await withHost({ ...run, ...guards, asks: false, approve: false }, async (running) => {
      const visits = running.store.add(visitsOf(systemClock, lingerMs));
      const served = {
        port: 0,
        tokenFile,
        program: engineProgram,
        onClient,
        onConnections: visits.note,
      };
      const endpoint = await openEndpoint(run, running, served);
      await unlock();
      if (typeof endpoint === 'number') return endpoint;
      running.follow();
      print(engineIsReady);
      await orAborted(untilAborted(visits.ended), running.signal);
      return 0;
    });
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
  return { ended: controller.signal, note, dispose };
}

export async function stop(run: Run, _: Words, options: Options): Promise<number> {
  const engines = (await servedBy(tokenFileFor(run, options))).filter(
    ({ program }) => program.kind === 'engine',
  );
  if (engines.length === 0) return print('No engine serves this folder.');
  for (const { pid } of engines) process.kill(pid, 'SIGTERM');
  const limit = systemClock.now() + stopLimitMs;
  while (engines.some(({ pid }) => isAlive(pid))) {
    const pids = engines.map(({ pid }) => pid).join();
    if (systemClock.now() > limit) return complain(`The engine (process ${pids}) does not end.`);
    await pause(20);
  }
  return print(
    engines.map((engine) => `The engine has ended. It served ${clientNames(engine)}.`).join('\n'),
  );
}
