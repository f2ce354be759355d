import { stat } from 'node:fs/promises';
import { textsOf } from '../../config/launchValues.js';
import type { StdioLaunch } from '../../config/model.js';
import { searchPath, fileOf } from '../../processes/program.js';
import type { Environment } from '../../processes/environment.js';
import { programsWithin, startEnvironment } from '../../processes/workspacePrograms.js';
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
  programChanged,
  type StdioFacts,
} from '../../failures/stdio.js';
import { StdioTransport } from './transport.js';

interface StdioAttemptDeps extends Omit<OpeningDeps, 'transport'> {
  readonly launch: StdioLaunch;
  readonly hostEnv: Environment;
  readonly roots: readonly string[];
  readonly process: Pick<ProcessStart, 'mark' | 'keeper'>;
}

export async function attemptStdio(deps: StdioAttemptDeps): Promise<ConnectOutcome> {
  const { launch, log, roots } = deps;
  const env = startEnvironment(roots, launch, deps.hostEnv);
  const { command, args, cwd, programs = [] } = launch;
  // A file of the workspace may have taken the name of the judged program since.
  const found = programsWithin(roots, launch, env);
  if (found.join('\0') !== programs.join('\0'))
    return { kind: 'failed', failure: programChanged(launch, found) };
  const withoutPackage = packageMissing(launch);
  if (withoutPackage) return { kind: 'failed', failure: withoutPackage };
  const started = await startProcess({
    ...deps.process,
    command,
    args: textsOf(args),
    cwd,
    env,
  });
  if (started.kind === 'notStarted')
    return { kind: 'failed', failure: await notStarted(launch, started.error, env) };
  const { tree } = started;
  log.write('info', `Started ${commandLine(launch)} as process ${tree.pid}`);
  if (tree.caution !== undefined)
    log.write('warn', `${tree.caution} What this server starts may outlive it.`);
  const transport = new StdioTransport({
    tree,
    log,
    share: deps.share,
  });
  const facts = (): StdioFacts => ({ launch, remains: transport.remains });
  const opening = { ...deps, transport };
  return await connectOver(opening, {
    beginning: 'its start',
    clue: (error) => clueOf(facts(), error),
    neverAnswered: (timeoutMs) => neverAnswered(facts(), timeoutMs),
    ended: async () => {
      const ending = await transport.ended;
      return endedBeforeAnswer(
        facts(),
        ending.kind === 'closed' ? { kind: 'streamClosed', stream: 'output' } : ending,
      );
    },
  });
}

async function notStarted(
  launch: StdioLaunch,
  error: NodeJS.ErrnoException,
  env: Environment,
): Promise<StartFailure> {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') return commandNotStarted(launch, error);
  const folder = await stat(launch.cwd).catch(() => undefined);
  if (!folder?.isDirectory()) return folderMissing(launch);
  const found = fileOf(launch.command, { cwd: launch.cwd, env });
  if (found) return interpreterMissing(launch, found);
  return commandNotFound(launch, await searchPath(launch.command, env));
}
