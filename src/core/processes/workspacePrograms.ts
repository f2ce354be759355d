/**
 * Finds the programs of a launch that lie in the workspace (S1n). A repository can bring them, so a
 * person approves their paths. Roots are the real folders of the workspace and their repositories.
 * The home folder and folders above it are no roots, because everything of the person is there.
 */
import { existsSync } from 'node:fs';
import { homedir } from '../base/home.js';
import path from 'node:path';
import { foldersUp, leadsDown, realPath } from '../base/paths.js';
import {
  environmentOf,
  pathEntries,
  variable,
  withPathEntries,
  type Environment,
} from './environment.js';
import { programFiles } from './program.js';

type Launched = Parameters<typeof environmentOf>[0] &
  Readonly<{
    command: string;
    cwd: string;
    isPersons?: true;
  }>;

interface Folder {
  readonly folder: string;
  readonly origin?: string;
}

/** @param sources those of the user's own file do not count */
export function workspaceRoots(sources: readonly Folder[], home = homedir()): string[] {
  const realHome = realPath(home);
  const holdsHome = (folder: string): boolean => home !== '' && leadsDown(folder, realHome);
  const roots = sources
    .filter(({ origin }) => origin !== 'user')
    .flatMap(({ folder }) => {
      const folders = foldersUp(realPath(folder)).filter((at) => !holdsHome(at));
      // A submodule belongs to the repository around it.
      return folders.findLast((at) => existsSync(path.join(at, '.git'))) ?? folders.slice(0, 1);
    });
  return [...new Set(roots)];
}

/** @param file a real path */
export function isInWorkspace(file: string, roots: readonly string[]): boolean {
  return roots.some((root) => leadsDown(root, file));
}

/** Returns an environment in which no program is looked up in the workspace. */
export function outsideOf(roots: readonly string[], env: Environment): Environment {
  if (roots.length === 0) return env;
  const isOutside = (entry: string): boolean =>
    path.isAbsolute(entry) && !isInWorkspace(realPath(entry), roots);
  return withPathEntries(env, pathEntries(env).filter(isOutside));
}

/** The environment of a start. */
export function startEnvironment(
  roots: readonly string[],
  launch: Launched,
  hostEnv: Environment,
): Environment {
  const env = environmentOf(launch, hostEnv);
  return launch.isPersons ? outsideOf(roots, env) : env;
}

/**
 * Returns the paths of the programs in the workspace, behind links too, that the command does not
 * show.
 */
export function programsWithin(
  roots: readonly string[],
  { command, cwd }: Launched,
  env: Environment,
): string[] {
  if (roots.length === 0) return [];
  return programFiles(command, { cwd, env }).flatMap((file) => {
    const place = path.join(realPath(path.dirname(file)), path.basename(file));
    const paths = [...new Set([place, realPath(file)])];
    return paths.some((one) => isInWorkspace(one, roots))
      ? paths.filter((one) => one !== command)
      : [];
  });
}

/** Remembers what it found, because most servers share a command. */
export function programFinder(
  roots: readonly string[],
  hostEnv: Environment,
): (launch: Launched) => readonly string[] {
  const found = new Map<string, readonly string[]>();
  return (launch) => {
    const env = startEnvironment(roots, launch, hostEnv);
    const key = JSON.stringify([
      launch.command,
      launch.cwd,
      variable(env, 'PATH'),
      variable(env, 'PATHEXT'),
    ]);
    const programs = found.get(key) ?? programsWithin(roots, launch, env);
    found.set(key, programs);
    return programs;
  };
}
