/** The MCP Inspector's command line, a foreign client. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { provisionNode } from '../editor/provision.ts';
import { alone, install, installOnce, installs } from '../installs.ts';
import { repository, runFolder } from './bundles.js';
import { within } from './within.js';

/** The user chooses an era or leaves the choice to the server. */
export type InspectorEra = 'legacy' | 'auto' | 'modern';

const both = { name: '@modelcontextprotocol/inspector', version: '2.12.0' };

/** The output of version 1 for a method at an address over Streamable HTTP. */
export async function inspect(url: string, token: string, ...args: string[]): Promise<unknown> {
  return JSON.parse(
    await output(process.execPath, [older(), '--cli', url, '--transport', 'http'], token, args),
  );
}

/**
 * The result from version 2 for a method at an address over Streamable HTTP. It speaks both eras.
 */
export async function inspectIn(
  era: InspectorEra,
  url: string,
  token: string,
  ...args: string[]
): Promise<unknown> {
  const [node, script] = [await provisionNode(), await provideInspector()];
  const own = [
    '--cli',
    '--server-url',
    url,
    '--transport',
    'http',
    '--protocol-era',
    era,
    '--format',
    'json',
    '--quiet',
  ];
  const { result } = JSON.parse(await output(node, [script, ...own], token, args)) as {
    result: unknown;
  };
  return result;
}

/**
 * Resolves with the program of version 2. It is fetched on first use, because it also depends on
 * pages and terminals.
 */
export async function provideInspector(): Promise<string> {
  const home = path.join(installs, `inspector-${both.version}`);
  const fetch = (): Promise<void> =>
    installOnce(home, `the Inspector ${both.version}`, (folder) =>
      install(folder, [`${both.name}@${both.version}`]),
    );
  if (!existsSync(home)) await alone(fetch);
  return path.join(home, 'node_modules', both.name, 'clients/launcher/build/index.js');
}

/**
 * Its package expects a folder of the whole Inspector but uses nothing else from it. So it gets an
 * empty one.
 */
function older(): string {
  const root = path.join(runFolder(), 'inspector');
  const script = path.join(root, 'cli', 'build', 'cli.js');
  if (existsSync(script)) return script;
  // A copy that broke off.
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root);
  writeFileSync(
    path.join(root, 'package.json'),
    JSON.stringify({ name: 'inspector', version: '1.0.3' }),
  );
  symlinkSync(path.join(repository, 'node_modules'), path.join(root, 'node_modules'));
  cpSync(
    path.join(repository, 'node_modules/@modelcontextprotocol/inspector-cli'),
    path.join(root, 'cli'),
    {
      recursive: true,
    },
  );
  return script;
}

async function output(
  node: string,
  program: readonly string[],
  token: string,
  args: readonly string[],
): Promise<string> {
  const header = ['--header', `Authorization: Bearer ${token}`];
  // Its own files go beside the bundles.
  const env = { ...process.env, HOME: runFolder(), USERPROFILE: runFolder() };
  delete (env as { NODE_OPTIONS?: string }).NODE_OPTIONS;
  const child = spawn(node, [...program, ...header, ...args], { env });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  const [code] = (await within(once(child, 'close'), 'the Inspector', () => err)) as [number];
  assert.equal(code, 0, err);
  return out;
}
