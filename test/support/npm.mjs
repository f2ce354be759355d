/**
 * Runs npm as a child process, and brings node_modules up to the lock file. Plain JavaScript without imports from
 * packages, because it runs before any package is installed.
 */
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repoRoot = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/**
 * Runs a program to its end with the terminal shared. Rejects with the last lines of output when `quiet`.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, quiet?: boolean, shell?: boolean }} [options]
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
 * Runs npm. Inside an npm script the same npm is used again; on Windows npm is a batch file and needs a shell.
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, quiet?: boolean }} [options]
 * @returns {Promise<number>} the exit code
 */
export function npm(args, options = {}) {
  const cli = process.env.npm_execpath;
  if (cli && /npm-cli\.c?js$/.test(cli)) return runToEnd(process.execPath, [cli, ...args], options);
  return runToEnd('npm', args, { ...options, shell: process.platform === 'win32' });
}

/** Installs the locked packages unless node_modules is at least as new as the lock file. */
export async function ensureDependencies() {
  const lock = join(repoRoot, 'package-lock.json');
  // npm writes this file last, so it also tells an interrupted install from a finished one.
  const installed = join(repoRoot, 'node_modules/.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log('Installing packages (npm ci) …');
  const code = await npm(['ci', '--no-audit', '--no-fund']);
  if (code !== 0) throw new Error(`npm ci ended with ${code}; its output is above`);
}
