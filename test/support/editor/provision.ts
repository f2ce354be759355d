/**
 * Makes the server form of VS Code available, with a matching Node and Chromium. An editor that
 * writes into its own extensions (agent mode) gets a copy, see `extensions.ts`.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { alone, install, installOnce, installs } from '../installs.ts';
import { ensureChromium } from './chromium.ts';
import { nodePackages, serverEditor } from './versions.ts';

export interface ServerForm {
  /** The Node binary for the server. */
  node: string;
  /** The folder of VS Code inside the package: `out/server-main.js`, `extensions`, … */
  editorRoot: string;
  chromium: string;
}

/** Installs the missing parts. Returns within milliseconds if all are present. */
export function provisionServerForm(): Promise<ServerForm> {
  return alone(async () => ({
    node: await ensureNode(),
    editorRoot: await ensureEditor(),
    chromium: await ensureChromium(),
  }));
}

/**
 * Only the Node binary, for other programs that need a new one. Writes nothing if it is present.
 */
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
    // The package leaves its own dependencies to an install script. Without scripts, no compiler is
    // needed.
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
  /** The package with the binary. Undefined for the running Node. */
  readonly source?: { readonly home: string; readonly name: string; readonly version: string };
}

function nodeOf(major: 22 | 24): NodeBinary {
  if (Number(process.versions.node.split('.')[0]) === major) return { binary: process.execPath };
  const platform = `${process.platform}-${process.arch}`;
  const source = nodePackages[major][platform];
  if (!source) {
    throw new Error(
      `No Node ${major} is known for ${platform}: run this with Node ${major} itself`,
    );
  }
  const home = join(installs, `${source.name}-${source.version}`);
  return {
    binary: join(home, 'node_modules', source.name, source.binary),
    source: { home, ...source },
  };
}
