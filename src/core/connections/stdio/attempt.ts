import { stat } from 'node:fs/promises';
import { textsOf } from '../../config/launchValues.js';
import type { DecidingFile, StdioLaunch } from '../../config/model.js';
import { decidingFiles } from '../../packages/decidingFiles.js';
import { launchedBy } from '../../packages/package.js';
import { runningVersion, type RunningVersion } from '../../packages/runningVersion.js';
import { treeCommands } from '../../processes/treeCommands.js';
import { fileOf, programFiles, searchPath } from '../../processes/program.js';
import type { Environment } from '../../processes/environment.js';
import { programsWithin, startEnvironment } from '../../processes/workspacePrograms.js';
import type { ConnectOutcome, StartFailure } from '../connection.js';
import { connectOver, type OpeningDeps } from '../eras/opening.js';
import { startProcess, type ProcessStart } from '../../processes/processTree.js';
import { inputMissing } from '../../failures/container.js';
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
  packageChanged,
  programChanged,
  type StdioFacts,
} from '../../failures/stdio.js';
import { StdioTransport } from './transport.js';

interface StdioAttemptDeps extends Omit<OpeningDeps, 'transport'> {
  readonly launch: StdioLaunch;
  readonly hostEnv: Environment;
  readonly roots: readonly string[];
  readonly process: Pick<ProcessStart, 'mark' | 'keeper'>;
  /** The path of our own command line. */
  readonly cli: string | undefined;
}

export async function attemptStdio(deps: StdioAttemptDeps): Promise<ConnectOutcome> {
  const { launch, log, roots } = deps;
  const env = startEnvironment(roots, launch, deps.hostEnv);
  const { cwd, programs = [] } = launch;
  // A file of the workspace may have taken the name of the judged program since.
  const found = programsWithin(roots, launch, env);
  if (found.join('\0') !== programs.join('\0'))
    return { kind: 'failed', failure: programChanged(launch, found) };
  const changed = changedFile(launch.deciding ?? [], decidingFiles(roots, launch));
  if (changed !== undefined) return { kind: 'failed', failure: packageChanged(launch, changed) };
  const incomplete = packageMissing(launch) ?? inputMissing(launch);
  if (incomplete) return { kind: 'failed', failure: incomplete };
  const started = await startProcess({
    ...deps.process,
    ...programOf(launch, env, deps.cli),
    cwd,
  });
  if (started.kind === 'notStarted')
    return {
      kind: 'failed',
      failure: await notStarted(launch, started.error, env),
    };
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
  const outcome = await connectOver(opening, {
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
  if (outcome.kind === 'connected') outcome.connection.runs = await versionOf(launch, tree.pid);
  return outcome;
}

/** Only packages of npm leave their place in the command line. */
async function versionOf(launch: StdioLaunch, pid: number): Promise<RunningVersion | undefined> {
  const launched = launchedBy(launch);
  if (launched?.launcher.names !== 'npm' || !launched.package) return undefined;
  return runningVersion(launched.package.name, await treeCommands(pid));
}

/** Returns the first file that is new, gone or different. */
function changedFile(
  approved: readonly DecidingFile[],
  found: readonly DecidingFile[],
): string | undefined {
  const keyOf = ({ kind, file, digest }: DecidingFile): string => [kind, file, digest].join('\0');
  const known = new Set(approved.map(keyOf));
  const now = new Set(found.map(keyOf));
  const isOther = (one: DecidingFile): boolean => !known.has(keyOf(one)) || !now.has(keyOf(one));
  return [...found, ...approved].find(isOther)?.file;
}

/**
 * If PATH has no `mcp-toolsets`, `record` and `replay` start by our own command line (H1a). Other
 * commands of it would serve toolsets or approve launches.
 */
function programOf(
  { command, args, cwd }: StdioLaunch,
  env: Environment,
  cli: string | undefined,
): Pick<ProcessStart, 'command' | 'args' | 'env'> {
  const words = textsOf(args);
  const isOwn = command === 'mcp-toolsets' && ['record', 'replay'].includes(words[0] ?? '');
  if (!isOwn || cli === undefined || programFiles(command, { cwd, env }).length > 0)
    return { command, args: words, env };
  // A desktop editor is Node only with this variable.
  return {
    command: process.execPath,
    args: [cli, ...words],
    env: { ...env, ELECTRON_RUN_AS_NODE: '1' },
  };
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
