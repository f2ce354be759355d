/** Opens the page of a sign-in in the browser of the person (X7). Only `login` does so. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** False over SSH, where a browser would open on the wrong machine, and without a screen. */
export function hasBrowser(): boolean {
  const isSet = (name: string): boolean => (process.env[name] ?? '') !== '';
  if (isSet('SSH_CONNECTION')) return false;
  return process.platform !== 'linux' || isSet('DISPLAY') || isSet('WAYLAND_DISPLAY');
}

/** Resolves to false if no program could be started for it. */
export async function openBrowser({ href }: URL): Promise<boolean> {
  const [program, ...args] = opener();
  // No program of the present folder is meant.
  const child = spawn(program, [...args, href], {
    cwd: path.parse(process.cwd()).root,
    stdio: 'ignore',
    detached: true,
    windowsHide: true,
  });
  child.on('error', () => undefined);
  child.unref();
  return await once(child, 'spawn').then(
    () => true,
    () => false,
  );
}

function opener(): [string, ...string[]] {
  const { platform } = process;
  if (platform === 'darwin') return ['/usr/bin/open'];
  if (platform !== 'win32') return ['xdg-open'];
  const system = path.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32');
  return [path.join(system, 'rundll32.exe'), 'url.dll,FileProtocolHandler'];
}
