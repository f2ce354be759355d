/** Programs of the system, which root installs on Debian. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { alone } from './installs.ts';
import { runToEnd } from './npm.mjs';

/** Resolves to its path, or undefined. On Debian, root installs a missing one. */
export async function ensureProgram(name: string, debian: string): Promise<string | undefined> {
  const found = onPath(name);
  if (found) return found;
  await alone(() => installOnDebian(debian)).catch(() => false);
  return onPath(name);
}

/** Resolves to false where root does not install packages of Debian. */
export async function installOnDebian(name: string): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !onPath('apt-get')) return false;
  console.log(`Installing ${name} (apt-get) …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await runToEnd('apt-get', ['update', '-qq'], { env, quiet: true });
  const wanted = ['--no-install-recommends', name];
  await runToEnd('apt-get', ['install', '-y', '-qq', ...wanted], { env, quiet: true });
  return true;
}

export function onPath(name: string): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const candidate = join(folder, name);
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      continue;
    }
  }
  return undefined;
}
