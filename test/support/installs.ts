/**
 * The tests' downloads in `.vscode-test/`. An install is made beside its final place and renamed
 * after completion, so an existing folder works. A lock keeps two runs from installing at once.
 * Finished folders are never written to.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { work } from './core/within.ts';
import { isAlive } from './editor/processes.ts';
import { npm, repoRoot } from './npm.mjs';

/** Git-ignored. */
export const installs = join(repoRoot, '.vscode-test');

/** Runs `provide` while no other run installs anything. */
export function alone<T>(provide: () => Promise<T>): Promise<T> {
  return work('an installation, or the wait for one of another run', async () => {
    await mkdir(installs, { recursive: true });
    const release = await lock(join(installs, 'lock'));
    try {
      return await provide();
    } finally {
      await release();
    }
  });
}

/** Does nothing if `home` exists. */
export async function installOnce(
  home: string,
  what: string,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  if (existsSync(home)) return;
  console.log(`Fetching ${what} …`);
  const partial = `${home}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await writeFile(join(partial, 'package.json'), '{ "private": true }\n');
  await work(`fetching ${what}`, () => fill(partial));
  await rename(partial, home);
}

/**
 * The variable for a Node process's extra certificates. Node always reads them at its start, which
 * can take twice as long as the rest of the start.
 */
const certificates = 'NODE_EXTRA_CA_CERTS';
const keptCertificates = 'MCP_TOOLSETS_TEST_CA_CERTS';

/**
 * Removes the variable for all children from now on. Only installs need these certificates, and get
 * them back.
 */
export function keepCertificatesForInstalls(): void {
  const given = process.env[certificates];
  if (given === undefined) return;
  process.env[keptCertificates] = given;
  delete process.env[certificates];
}

/** Installs packages into a folder without running their scripts. */
export async function install(folder: string, args: string[]): Promise<void> {
  const common = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const kept = process.env[keptCertificates];
  const env = { ...process.env, ...(kept !== undefined && { [certificates]: kept }) };
  await npm(['install', ...args, ...common], { cwd: folder, env, quiet: true });
}

/**
 * Creating the file is atomic. The owner's id in it separates a live lock from the lock of a dead
 * run.
 */
async function lock(file: string): Promise<() => Promise<void>> {
  for (let announced = false; ; announced = true) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' });
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = Number(await readFile(file, 'utf8').catch(() => ''));
    if (owner > 0 ? !isAlive(owner) : await isOld(file)) {
      await rm(file, { force: true });
    } else {
      if (!announced)
        console.log(`Waiting for another run that installs something (lock: ${file}) …`);
      await delay(250);
    }
  }
}

/** A run that dies between the two steps of its lock leaves one without an owner. */
async function isOld(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > 10_000;
}
