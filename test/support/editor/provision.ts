/**
 * Makes the server form of VS Code available, with a Node that can run it and a Chromium that can show it. An editor
 * that writes into its own extensions (agent mode) gets a copy, see `extensions.ts`.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { alone, install, installOnce, installs } from '../installs.ts';
import { ensureChromium } from './chromium.ts';
import { nodePackages, serverEditor } from './versions.ts';

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

/** The Node binary alone, for what else needs one as new. Writes nothing where it is there. */
export async function provisionNode(): Promise<string> {
  const { binary } = nodeOf(serverEditor().node);
  return existsSync(binary) ? binary : alone(ensureNode);
}

async function ensureEditor(): Promise<string> {
  const { codeServer } = serverEditor();
  const home = join(installs, `code-server-${codeServer}`);
  const inside = 'node_modules/code-server/lib/vscode';
  await installOnce(home, `VS Code as a server (code-server ${codeServer})`, async (folder) => {
    await install(folder, [`code-server@${codeServer}`]);
    // The package leaves its own dependencies to an install script; run here without scripts, no compiler is needed.
    await install(join(folder, inside), ['--omit=dev']);
  });
  return join(home, inside);
}

async function ensureNode(): Promise<string> {
  const { binary, source } = nodeOf(serverEditor().node);
  if (source) {
    const { home, version, name } = source;
    await installOnce(home, `Node ${version}`, (folder) => install(folder, [`${name}@${version}`]));
  }
  return binary;
}

interface NodeBinary {
  readonly binary: string;
  /** The package that brings it; undefined for the Node that runs this. */
  readonly source?: { readonly home: string; readonly name: string; readonly version: string };
}

function nodeOf(major: 22 | 24): NodeBinary {
  if (Number(process.versions.node.split('.')[0]) === major) return { binary: process.execPath };
  const platform = `${process.platform}-${process.arch}`;
  const source = nodePackages[major][platform];
  if (!source) {
    throw new Error(`No Node ${major} is known for ${platform}: run this with Node ${major} itself`);
  }
  const home = join(installs, `${source.name}-${source.version}`);
  return { binary: join(home, 'node_modules', source.name, source.binary), source: { home, ...source } };
}
