/** Reads the config files of a folder (C5) once. An unreadable file is a problem. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { homedir } from '../core/base/home.js';
import {
  FileRefused,
  largestConfigFile,
  readTextFileSync,
  type Decode,
} from '../core/base/textFile.js';
import type { Problem } from '../core/base/problem.js';
import type { ConfigDeps, ConfiguredServer, SourceText } from '../core/config/model.js';
import { ConfigState } from '../core/config/read/merge.js';
import { foldersUp, isInside, isPersons, launcherPath, samePath } from '../core/base/paths.js';
import { mainFolderOf, worktreeOf } from '../core/approval/worktree.js';
import { fileUnreadable, localPath, mindsPath, sourceFiles } from '../core/config/sources.js';
import { readEnvFile } from '../core/files/envFile.js';
import { lockFileOf, lockWithin } from '../core/files/lockFile.js';
import { reasonOf } from '../core/files/watchedFile.js';
import { isTracked } from '../core/approval/gitIndex.js';
import { directoryExists } from '../core/assembly/assemble.js';
import { decidingFinder } from '../core/packages/decidingFiles.js';
import { programFinder, workspaceRoots } from '../core/processes/workspacePrograms.js';
import { teamPath } from '../core/team/grants.js';
import { parseTeam, type ParsedTeam } from '../core/team/team.js';
import { secretOf } from './keyring.js';

/** The sources by precedence; the first is the folder's `.minds/mcp.yaml`. */
type ConfigFiles = Readonly<{ sources: readonly SourceText[]; problems: readonly Problem[] }>;

/**
 * The environment of every command. Secrets come from the keyring or from environment variables
 * (C2).
 */
export const configDeps: ConfigDeps = {
  env: process.env,
  directoryExists,
  secret: secretOf,
  envFile: readEnvFile,
  isTracked,
  findersFor: (sources) => {
    const roots = workspaceRoots(sources);
    return { programs: programFinder(roots, process.env), deciding: decidingFinder(roots) };
  },
};

/** An unreadable `.minds/team.yaml` (D2) is a problem too. */
export function readTeam(folder: string): ParsedTeam {
  const { source, problems } = readSource({ file: path.join(folder, teamPath), folder });
  const { team, problems: found } = parseTeam(source);
  return { team, problems: [...problems, ...found] };
}

/** Parses the config files too, so the problems include their contents. */
export function readConfig(
  from: ReadFolder,
  { sources, problems } = readConfigFiles(from),
): { readonly servers: readonly ConfiguredServer[]; readonly problems: readonly Problem[] } {
  const { model, problems: found } = new ConfigState().apply(sources, configDeps);
  return {
    servers: model.servers,
    problems: [...problems, ...found],
  };
}

export interface ReadFolder {
  readonly folder: string;
  /** True if the person's layer does not count (C7). */
  readonly withoutLocal?: boolean;
}

export function readConfigFiles({ folder, withoutLocal }: ReadFolder): ConfigFiles {
  const files = sourceFiles([folder], homedir(), mainFolderOf);
  const wanted = files.filter(({ origin }) => origin !== 'local' || withoutLocal !== true);
  const read = wanted.map(readSource);
  return {
    sources: read.map(({ source }) =>
      source.origin === 'folder' ? { ...source, lock: lockOf(folder) } : source,
    ),
    problems: read.flatMap(({ problems }) => problems),
  };
}

function lockOf(folder: string): SourceText['lock'] {
  const file = lockFileOf(folder);
  try {
    const text = readTextFileSync(file, largestConfigFile);
    return lockWithin(folder, { kind: 'text', text });
  } catch (error) {
    const reason = reasonOf(error);
    return reason === undefined ? { kind: 'absent' } : { kind: 'unreadable', reason };
  }
}

/** An unreadable file has a problem and no text. An unreadable layer costs itself (C7). */
function readSource(source: Omit<SourceText, 'text'>): {
  readonly source: SourceText;
  readonly problems: readonly Problem[];
} {
  try {
    return { source: { ...source, text: textIfThere(source.file) }, problems: [] };
  } catch (error) {
    const reason = error instanceof FileRefused ? error.reason : (error as Error).message;
    const withoutText = { ...source, text: undefined };
    return source.origin === 'local'
      ? { source: { ...withoutText, unreadable: reason }, problems: [] }
      : { source: withoutText, problems: [fileUnreadable(source.file, reason)] };
  }
}

/**
 * Returns the nearest folder with a config file (G6b). Others may write a folder above `start`,
 * such as `/tmp`.
 */
export function nearestFolder(start: string, home: string): string {
  let nearest: string | undefined;
  for (const folder of foldersUp(start)) {
    // The file of the home folder is a source of every folder, not a workspace around it (C5).
    if (samePath(folder, home)) return start;
    const isOwn = ['', '.git', '.minds'].every((name) => isPersons(path.join(folder, name)));
    const hasFile = [mindsPath, localPath].some((file) => existsSync(path.join(folder, file)));
    if (isOwn && hasFile) nearest ??= folder;
    // In a worktree or a submodule, `.git` is a file.
    if (isOwn && existsSync(path.join(folder, '.git'))) return nearest ?? start;
  }
  return start;
}

/**
 * True if a path of a command line may lead out of the repository of `start`. An agent starts the
 * entries of a repository, and these must not reach the person's other folders (G6f). Entries
 * outside it start the launcher by its path.
 * @param script that Node started, if it started a file
 */
export function leadsOut(
  file: string,
  start: string,
  home: string,
  script: string | undefined,
): boolean {
  if (script !== undefined && samePath(script, launcherPath(home))) return false;
  const root = foldersUp(start).find((folder) => existsSync(path.join(folder, '.git')));
  if (root === undefined || isInside(file, root)) return false;
  const [one, other] = [start, file].map(
    (folder) => worktreeOf(path.join(folder, mindsPath))?.repository,
  );
  return one === undefined || one !== other;
}

/** Returns undefined if there is no such file. Throws as `readTextFileSync` does. */
export function textIfThere(
  file: string,
  most = largestConfigFile,
  decode?: Decode,
): string | undefined {
  try {
    return readTextFileSync(file, most, decode);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined;
    throw error;
  }
}
