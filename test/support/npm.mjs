/**
 * Runs npm as a child process, and brings node_modules up to the lock file. Plain JavaScript
 * without imports from packages, because it runs before any package is installed.
 */
import { spawn } from 'node:child_process';
import { lstat, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repoRoot = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/**
 * Runs a program to its end with the terminal shared. If `quiet`, holds its output back, and
 * rejects with the last lines if the program fails.
 * @param {string} command
 * @param {string[]} args
 * @param {import('./npm.mjs').RunOptions & { shell?: boolean }} [options]
 * @returns {Promise<number>} the exit code; a death by signal counts as 1
 */
export function runToEnd(command, args, options = {}) {
  return new Promise((done, failed) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? repoRoot,
      env: options.env ?? process.env,
      shell: options.shell ?? false,
      stdio: options.quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    });
    const tail = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        tail.push(String(chunk));
        if (tail.length > 200) tail.shift();
      });
    }
    child.once('error', failed);
    child.once('close', (code) => {
      if (options.quiet && code !== 0) {
        const lines = tail.join('').trimEnd().split('\n').slice(-25).join('\n');
        failed(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${lines}`));
      } else {
        done(code ?? 1);
      }
    });
  });
}

/**
 * npm as a program. Inside an npm script the same npm is used again. On Windows npm is a batch file
 * and needs a shell.
 * @param {string[]} args
 */
export function npmCommand(args) {
  const cli = process.env.npm_execpath;
  if (cli && /npm-cli\.c?js$/.test(cli))
    return { command: process.execPath, args: [cli, ...args], shell: false };
  return { command: 'npm', args, shell: process.platform === 'win32' };
}

/**
 * Runs npm.
 * @param {string[]} args
 * @param {import('./npm.mjs').RunOptions} [options]
 * @returns {Promise<number>} the exit code
 */
export function npm(args, options = {}) {
  const { command, args: words, shell } = npmCommand(args);
  return runToEnd(command, words, { ...options, shell });
}

/** Installs the locked packages unless node_modules holds exactly those. */
export async function ensureDependencies() {
  if (await hasLockedPackages()) return;
  // npm ci empties node_modules. Behind a link, node_modules belongs to another checkout.
  const installed = await lstat(join(repoRoot, 'node_modules')).catch(() => undefined);
  if (installed?.isSymbolicLink())
    throw new Error('node_modules is a link and out of date: run npm ci where it leads to');
  console.log('Installing packages (npm ci) …');
  const code = await npm(['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  if (code !== 0) throw new Error(`npm ci ended with ${code}; its output is above`);
}

/**
 * npm records its installed packages at the end, so an interrupted install differs from a finished
 * one.
 */
async function hasLockedPackages() {
  const packagesIn = async (file) =>
    JSON.parse(await readFile(join(repoRoot, file), 'utf8')).packages;
  try {
    const installed = await packagesIn('node_modules/.package-lock.json');
    const locked = Object.entries(await packagesIn('package-lock.json')).filter(
      ([path]) => path !== '',
    );
    return locked.every(([path, { version, optional }]) =>
      installed[path] ? installed[path].version === version : optional === true,
    );
  } catch {
    return false;
  }
}

/**
 * Runs a TypeScript file of this repository. The script cleans up and ends on Ctrl-C, so signals
 * are passed on rather than obeyed.
 * @param {string} file relative to the repository
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
export function runScript(file, args) {
  const child = spawn(process.execPath, ['--import', 'tsx', join(repoRoot, file), ...args], {
    cwd: repoRoot,
    stdio: 'inherit',
  });
  // A terminal sends Ctrl-C to both processes. A kill reaches only this one.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) => done(code ?? 1));
  });
}
