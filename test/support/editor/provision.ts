/**
 * Makes the server form of VS Code available in `.vscode-test/`, with a Node that can run it and a Chromium that can
 * show it.
 *
 * An install is made beside its final place and renamed when it is complete, so a folder that exists is a folder that
 * works. A lock keeps two runs from installing at once. Nothing writes into a finished folder; an editor that writes
 * into its own extensions (agent mode) gets a copy, see `extensions.ts`.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { npm } from '../npm.mjs';
import { ensureChromium } from './chromium.ts';
import { isAlive } from './processes.ts';
import { codeServer, editorCache, nodePackages, serverNodeMajor } from './versions.ts';

export interface ServerForm {
  /** The Node binary that runs the server. */
  node: string;
  /** The folder of VS Code inside the package: `out/server-main.js`, `extensions`, … */
  editorRoot: string;
  chromium: string;
}

/** Installs what is missing; returns within milliseconds when nothing is. */
export function provisionServerForm(): Promise<ServerForm> {
  return alone(async () => ({
    node: await ensureNode(),
    editorRoot: await ensureEditor(),
    chromium: await ensureChromium(),
  }));
}

/** The Node binary alone, for what else needs one as new. */
export function provisionNode(): Promise<string> {
  return alone(ensureNode);
}

async function alone<T>(provide: () => Promise<T>): Promise<T> {
  await mkdir(editorCache, { recursive: true });
  const release = await lock(join(editorCache, 'lock'));
  try {
    return await provide();
  } finally {
    await release();
  }
}

async function ensureEditor(): Promise<string> {
  const home = join(editorCache, `code-server-${codeServer}`);
  const inside = 'node_modules/code-server/lib/vscode';
  await installOnce(home, `VS Code as a server (code-server ${codeServer})`, async (folder) => {
    await install(folder, [`code-server@${codeServer}`]);
    // The package leaves its own dependencies to an install script; run here without scripts, no compiler is needed.
    await install(join(folder, inside), ['--omit=dev']);
  });
  return join(home, inside);
}

async function ensureNode(): Promise<string> {
  if (Number(process.versions.node.split('.')[0]) === serverNodeMajor) return process.execPath;
  const platform = `${process.platform}-${process.arch}`;
  const source = nodePackages[platform];
  if (!source) {
    throw new Error(
      `No Node ${serverNodeMajor} is known for ${platform}: run this with Node ${serverNodeMajor} itself`,
    );
  }
  const home = join(editorCache, `${source.name}-${source.version}`);
  await installOnce(home, `Node ${source.version}`, (folder) => install(folder, [`${source.name}@${source.version}`]));
  return join(home, 'node_modules', source.name, source.binary);
}

async function installOnce(home: string, what: string, fill: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(home)) return;
  console.log(`Fetching ${what} …`);
  const partial = `${home}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await writeFile(join(partial, 'package.json'), '{ "private": true }\n');
  await fill(partial);
  await rename(partial, home);
}

async function install(folder: string, args: string[]): Promise<void> {
  const common = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await npm(['install', ...args, ...common], { cwd: folder, quiet: true });
}

/** Creating the file is atomic; the owner's id in it tells a live lock from one that a dead run left. */
async function lock(file: string): Promise<() => Promise<void>> {
  for (let announced = false; ; announced = true) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' });
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = Number(await readFile(file, 'utf8').catch(() => ''));
    if (owner > 0 && !isAlive(owner)) {
      await rm(file, { force: true });
    } else {
      if (!announced) console.log(`Waiting for another run that installs the editor (lock: ${file}) …`);
      await delay(250);
    }
  }
}
