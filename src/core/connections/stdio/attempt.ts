/** One attempt to start a stdio server: spawn, open, and when that fails, what is to be said about it (X1, X3). */
import { stat } from 'node:fs/promises';
import { tokenVariable } from '../../base/tokenVariable.js';
import type { StdioLaunch } from '../../config/model.js';
import { searchPath } from './commandSearch.js';
import type { ConnectOutcome, StartFailure } from '../connection.js';
import { initializeRefused, listFailed, wrongInitializeAnswer } from '../openingFailures.js';
import { openConnection, type Opening, type OpeningParts } from '../opening.js';
import { startProcess, type ProcessStart } from './processTree.js';
import { loadSdk } from '../sdk.js';
import {
  causeOfDeath,
  commandLine,
  commandNotFound,
  commandNotStarted,
  endedBeforeAnswer,
  folderMissing,
  neverAnswered,
} from './startFailures.js';
import { StdioTransport } from './transport.js';

interface StdioAttemptParts extends Omit<OpeningParts, 'transport' | 'pid' | 'causeOfEnd' | 'sdk'> {
  readonly launch: StdioLaunch;
  /** The host's environment. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly process: Pick<ProcessStart, 'mark' | 'onSpawned' | 'onGone'>;
}

/** `cancelled` when the signal was aborted by the caller; `timedOut` tells the time limit from that. */
export async function attemptStdio(parts: StdioAttemptParts, timedOut: () => boolean): Promise<ConnectOutcome> {
  const { launch, log, signal } = parts;
  const env = childEnvironment(parts.hostEnv, launch);
  const { command, args, cwd } = launch;
  const started = await startProcess({ ...parts.process, command, args, cwd, env });
  if (started.kind === 'notStarted') return failed(await notStarted(launch, started.error, env));
  const { tree } = started;
  log.write('info', `Started ${commandLine(launch)} as process ${tree.pid}`);
  const transport = new StdioTransport({ tree, log });
  const causeOfEnd = (): string => causeOfDeath(transport.ending ?? { kind: 'closed' }, transport.remains);
  const pid = tree.pid;
  const opening = signal.aborted
    ? ({ kind: 'stopped', during: 'initialize' } as const)
    : await openConnection({ ...parts, transport, pid, causeOfEnd, sdk: await loadSdk() });
  if (opening.kind === 'opened') {
    const { connection, listing } = opening;
    return { kind: 'connected', connection, listing };
  }
  const failure = await explain(opening, parts, transport, env);
  await transport.close();
  if (opening.kind === 'stopped' && !timedOut()) return { kind: 'cancelled' };
  return failed(failure);
}

async function explain(
  opening: Exclude<Opening, { kind: 'opened' }>,
  { launch, timeoutMs }: StdioAttemptParts,
  transport: StdioTransport,
  env: Readonly<Record<string, string | undefined>>,
): Promise<StartFailure> {
  const what = commandLine(launch);
  const facts = { launch, remains: transport.remains };
  switch (opening.kind) {
    case 'stopped':
      return opening.during === 'list'
        ? listFailed(what, `They did not come within ${timeoutMs / 1000} s of its start.`)
        : neverAnswered(facts, timeoutMs);
    case 'wrongAnswer':
      return wrongInitializeAnswer(what, opening.detail);
    case 'refused':
      return initializeRefused(what, opening);
    case 'listFailed':
      return listFailed(what, opening.reason);
    case 'transport': {
      const ending = transport.ending ?? (await transport.ended);
      if (ending.kind === 'exited' && ending.exit.kind === 'notFound') {
        return await notStarted(launch, ending.exit.error, env);
      }
      return endedBeforeAnswer(facts, ending.kind === 'closed' ? { kind: 'streamClosed', stream: 'output' } : ending);
    }
  }
}

/** ENOENT can mean that the command is missing, and that the folder is. */
async function notStarted(
  launch: StdioLaunch,
  error: NodeJS.ErrnoException,
  env: Readonly<Record<string, string | undefined>>,
): Promise<StartFailure> {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') return commandNotStarted(launch, error);
  const folder = await stat(launch.cwd).catch(() => undefined);
  if (!folder?.isDirectory()) return folderMissing(launch);
  return commandNotFound(launch, await searchPath(launch.command, env));
}

/** The environment of the host without our own token, overlaid with that of the launch (C2). Windows does not tell `Path` from `PATH`. */
function childEnvironment(
  hostEnv: Readonly<Record<string, string | undefined>>,
  launch: StdioLaunch,
): Record<string, string | undefined> {
  const env: Record<string, string | undefined> = { ...hostEnv };
  for (const name of Object.keys(env)) if (name.toUpperCase() === tokenVariable) delete env[name];
  for (const [name, { value }] of launch.env) {
    if (process.platform === 'win32') {
      for (const other of Object.keys(env)) if (other.toUpperCase() === name.toUpperCase()) delete env[other];
    }
    env[name] = value;
  }
  return env;
}

function failed(failure: StartFailure): ConnectOutcome {
  return { kind: 'failed', failure };
}
