import { stat } from 'node:fs/promises';
import { tokenVariable } from '../../base/tokenVariable.js';
import type { StdioLaunch } from '../../config/model.js';
import { searchPath, fileOf } from '../../processes/program.js';
import { overlaid, type Environment } from '../../processes/environment.js';
import type { ConnectOutcome, StartFailure } from '../connection.js';
import { connectOver, type OpeningDeps } from '../eras/opening.js';
import { startProcess, type ProcessStart } from '../../processes/processTree.js';
import {
  clueOf,
  commandLine,
  commandNotFound,
  commandNotStarted,
  interpreterMissing,
  endedBeforeAnswer,
  folderMissing,
  neverAnswered,
  packageMissing,
  type StdioFacts,
} from '../../failures/stdio.js';
import { StdioTransport } from './transport.js';

interface StdioAttemptDeps extends Omit<OpeningDeps, 'transport'> {
  readonly launch: StdioLaunch;
  readonly hostEnv: Environment;
  readonly process: Pick<ProcessStart, 'mark' | 'keeper'>;
}

export async function attemptStdio(deps: StdioAttemptDeps): Promise<ConnectOutcome> {
  const { launch, log } = deps;
  const own = [...launch.env].map(([name, { value }]) => [name, value] as const);
  const env = overlaid(overlaid(inherited(deps.hostEnv), launch.envFile?.values ?? []), own);
  const { command, args, cwd } = launch;
  const withoutPackage = packageMissing(launch);
  if (withoutPackage) return { kind: 'failed', failure: withoutPackage };
  const started = await startProcess({ ...deps.process, command, args, cwd, env });
  if (started.kind === 'notStarted') return { kind: 'failed', failure: await notStarted(launch, started.error, env) };
  const { tree } = started;
  log.write('info', `Started ${commandLine(launch)} as process ${tree.pid}`);
  if (tree.caution !== undefined) log.write('warn', `${tree.caution} What this server starts may outlive it.`);
  const transport = new StdioTransport({ tree, log, share: deps.share });
  const facts = (): StdioFacts => ({ launch, remains: transport.remains });
  const opening = { ...deps, transport };
  return await connectOver(opening, {
    beginning: 'its start',
    clue: (error) => clueOf(facts(), error),
    neverAnswered: (timeoutMs) => neverAnswered(facts(), timeoutMs),
    ended: async () => {
      const ending = await transport.ended;
      return endedBeforeAnswer(facts(), ending.kind === 'closed' ? { kind: 'streamClosed', stream: 'output' } : ending);
    },
  });
}

async function notStarted(launch: StdioLaunch, error: NodeJS.ErrnoException, env: Environment): Promise<StartFailure> {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') return commandNotStarted(launch, error);
  const folder = await stat(launch.cwd).catch(() => undefined);
  if (!folder?.isDirectory()) return folderMissing(launch);
  const found = fileOf(launch.command, { cwd: launch.cwd, env });
  if (found) return interpreterMissing(launch, found);
  return commandNotFound(launch, await searchPath(launch.command, env));
}

/** Returns the environment of the host without our own token. */
export function inherited(hostEnv: Environment): Environment {
  return Object.fromEntries(Object.entries(hostEnv).filter(([name]) => name.toUpperCase() !== tokenVariable));
}
