/**
 * Finds the version of a package that runs, from the paths in the command lines of its processes:
 * the folder of npm's cache or the project from which its launcher started it. Another cache or a
 * later update changes nothing about the version that runs (C8). Nothing is asked.
 */
import path from 'node:path';
import { asFields } from '../base/isObject.js';
import { realPath } from '../base/paths.js';
import { largestConfigFile, readTextFile } from '../base/textFile.js';
import { npmVersion } from './package.js';

export interface RunningVersion {
  readonly version: string;
  /** As npm recorded it. */
  readonly integrity?: string;
}

/** The program and its interpreter come first in a command line. */
const mostWords = 4;
const mostFolders = 40;
/** The launchers themselves are packages too, and a global folder may have both. */
const ofLauncher = /[\\/]node_modules[\\/](?:npm|pnpm|yarn|corepack|@yarnpkg)[\\/]/;

/** @param commands the command lines of its processes, parents first */
export async function runningVersion(
  name: string,
  commands: readonly (readonly string[])[],
): Promise<RunningVersion | undefined> {
  const files = commands
    .flatMap((words) => words.slice(0, mostWords))
    .filter((word) => path.isAbsolute(word) && word.length < 4096 && !ofLauncher.test(word));
  const folders = files.flatMap((file) => [file, realPath(file)]).flatMap(foldersOfModules);
  for (const modules of [...new Set(folders)].slice(0, mostFolders)) {
    const found = asFields(await jsonIn(path.join(modules, name, 'package.json')));
    const { version } = found;
    if (found['name'] !== name || typeof version !== 'string' || !npmVersion.test(version))
      continue;
    const integrity = await integrityIn(modules, name, version);
    return { version, ...(integrity !== undefined && { integrity }) };
  }
  return undefined;
}

/** Returns the folders `node_modules` in a path, the deepest first. */
function foldersOfModules(file: string): string[] {
  const parts = file.split(path.sep);
  return parts
    .flatMap((part, at) => (part === 'node_modules' ? [parts.slice(0, at + 1).join(path.sep)] : []))
    .reverse();
}

async function integrityIn(
  modules: string,
  name: string,
  version: string,
): Promise<string | undefined> {
  const record = asFields(await jsonIn(path.join(modules, '.package-lock.json')));
  const entry = asFields(asFields(record['packages'])[`node_modules/${name}`]);
  const { integrity } = entry;
  const isMeant = entry['version'] === version && typeof integrity === 'string';
  return isMeant && /^sha\d{3}-[\w+/=]{20,128}$/.test(integrity) ? integrity : undefined;
}

async function jsonIn(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readTextFile(file, largestConfigFile)) as unknown;
  } catch {
    return undefined;
  }
}
