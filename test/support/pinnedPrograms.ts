/**
 * Programs of the npm registry at a pinned version, each in a folder outside the repository. An
 * existing folder is complete, because the install takes this name at its end.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { work } from './core/within.ts';

export interface Pin {
  readonly package: string;
  readonly version: string;
  /** The hash of the package, in the form of lock files. */
  readonly integrity?: string;
}

interface InstallOptions {
  /** The last day of publication for each dependency. */
  readonly before?: string;
  readonly runsScripts?: boolean;
  /**
   * Versions of dependencies that a package names by a tag, because some registries keep no tags.
   */
  readonly overrides?: Readonly<Record<string, string>>;
}

/** Returns the folder in the variable, or one in the cache of the user. */
export function cacheFolder(variable: string, name: string): string {
  return process.env[variable] ?? path.join(homedir(), '.cache', name);
}

/**
 * Resolves with a folder that has the program in `node_modules`. Rejects with the last words of
 * npm.
 */
export async function installPinned(
  root: string,
  id: string,
  pin: Pin,
  options: InstallOptions = {},
): Promise<string> {
  const { package: name, version, integrity } = pin;
  const folder = path.join(root, `${id}-${version}`);
  if (existsSync(folder)) return folder;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    const { before, runsScripts = true, overrides = {} } = options;
    writeFileSync(path.join(making, 'package.json'), JSON.stringify({ private: true, overrides }));
    const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`];
    if (before !== undefined) args.push('--before', before);
    if (!runsScripts) args.push('--ignore-scripts');
    const npm = spawn('npm', args, { cwd: making, shell: process.platform === 'win32' });
    let words = '';
    for (const stream of [npm.stdout, npm.stderr])
      stream.on('data', (chunk) => (words += String(chunk)));
    const [code] = (await work(`installing ${name}`, () => once(npm, 'close'))) as [number | null];
    if (code !== 0)
      throw new Error(`npm could not install ${name}@${version}: ${words.trim().slice(-500)}`);
    const installed = integrityIn(making, name);
    if (integrity !== undefined && installed !== integrity)
      throw new Error(`${name}@${version} is not what is pinned: its integrity is ${installed}`);
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

function integrityIn(folder: string, name: string): string | undefined {
  const { packages } = JSON.parse(readFileSync(path.join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { integrity?: string }>;
  };
  return packages[`node_modules/${name}`]?.integrity;
}

/**
 * Returns the script or program behind the command of a package.
 * @param folder has the package in `node_modules`
 */
export function commandIn(folder: string, name: string): string {
  const own = path.join(folder, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(path.join(own, 'package.json'), 'utf8')) as {
    bin: string | Record<string, string>;
  };
  const file = typeof bin === 'string' ? bin : Object.values(bin)[0];
  if (file === undefined) throw new Error(`${name} has no command.`);
  return path.join(own, file);
}
