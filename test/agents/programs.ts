/**
 * The real programs in the versions of `programs.json`. Each is installed once into a separate folder outside the
 * repository, below `MCP_TOOLSETS_AGENTS` or the cache of the user.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import pinned from './programs.json';

export type ProgramId = keyof typeof pinned;

export const versionOf = (id: ProgramId): string => pinned[id].version;

const root = process.env['MCP_TOOLSETS_AGENTS'] ?? path.join(homedir(), '.cache', 'mcp-toolsets-agents');

/** Resolves with its folder, which has it in `node_modules`. Rejects with npm's last output. */
export async function install(id: ProgramId): Promise<string> {
  const { package: name, version } = pinned[id];
  const folder = path.join(root, `${id}-${version}`);
  if (existsSync(folder)) return folder;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    writeFileSync(path.join(making, 'package.json'), '{ "private": true }\n');
    const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`];
    const npm = spawn('npm', args, { cwd: making, shell: process.platform === 'win32' });
    let words = '';
    for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk) => (words += String(chunk)));
    const [code] = (await once(npm, 'close')) as [number | null];
    if (code !== 0) throw new Error(`npm could not install ${name}@${version}: ${words.trim().slice(-500)}`);
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

/** The script or program behind a package's command. */
export function commandOf(id: ProgramId, folder: string): string {
  const own = path.join(folder, 'node_modules', pinned[id].package);
  const { bin } = JSON.parse(readFileSync(path.join(own, 'package.json'), 'utf8')) as {
    bin: string | Record<string, string>;
  };
  const file = typeof bin === 'string' ? bin : Object.values(bin)[0];
  if (file === undefined) throw new Error(`${pinned[id].package} has no command.`);
  return path.join(own, file);
}
