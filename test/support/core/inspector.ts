/**
 * The MCP Inspector's command line, as a client that is none of ours. Its package expects to lie in a folder of the whole
 * Inspector, of which nothing else is needed, so it is given one.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repository, runFolder } from './bundles.js';
import { within } from './within.js';

function program(): string {
  const root = path.join(runFolder(), 'inspector');
  const script = path.join(root, 'cli', 'build', 'cli.js');
  if (existsSync(script)) return script;
  mkdirSync(root);
  writeFileSync(path.join(root, 'package.json'), JSON.stringify({ name: 'inspector', version: '1.0.3' }));
  symlinkSync(path.join(repository, 'node_modules'), path.join(root, 'node_modules'));
  cpSync(path.join(repository, 'node_modules/@modelcontextprotocol/inspector-cli'), path.join(root, 'cli'), {
    recursive: true,
  });
  return script;
}

/** What it prints for a method at an address over Streamable HTTP. */
export async function inspect(url: string, token: string, ...args: string[]): Promise<unknown> {
  const header = ['--header', `Authorization: Bearer ${token}`];
  const child = spawn(process.execPath, [program(), '--cli', url, '--transport', 'http', ...header, ...args]);
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  const [code] = (await within(once(child, 'close'), 'the Inspector', () => err)) as [number];
  assert.equal(code, 0, err);
  return JSON.parse(out);
}
