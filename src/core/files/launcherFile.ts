/**
 * Keeps `~/.minds/bin/mcp-toolsets.js` for the entries of other agents (G6e). Its path outlives
 * updates. The extension and the package each add their command line, and the newest of them
 * starts, whoever wrote last.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { launcherPath } from '../base/paths.js';
import { makePrivateFile } from '../base/privateFile.js';
import {
  largestConfigFile,
  largestForeignFile,
  readTextFile,
  readTextFileSync,
} from '../base/textFile.js';
import { unlessThrown } from '../base/unlessThrown.js';

/**
 * Rejects as `node:fs/promises` does. @param cli the absolute path of `cli.js` in the extension, or
 * of another build
 */
export async function writeLauncher(home: string, cli: string): Promise<void> {
  const file = launcherPath(home);
  const there = await readTextFile(file, largestConfigFile).catch(() => undefined);
  const others = commandLinesIn(there).filter((other) => other !== cli && existsSync(other));
  const text = launcherText([cli, ...others].sort());
  if (there !== text) await makePrivateFile(file, text);
}

/** Earlier versions kept one in place of a list. */
function commandLinesIn(text = ''): string[] {
  const [, written = ''] = /^const (?:cli|known) = (.+);$/m.exec(text) ?? [];
  const known = unlessThrown(() => JSON.parse(written) as unknown);
  return [known].flat().filter((each): each is string => typeof each === 'string');
}

interface HiddenLockFile {
  readonly packages?: Readonly<
    Record<string, { readonly integrity?: string; readonly resolved?: string }>
  >;
}

/**
 * True if npm recorded that it took this package from a registry. It records nothing of global
 * packages, and a link leads out of `node_modules`.
 */
export function isFromRegistry(cli: string): boolean {
  const folder = path.resolve(cli, '../..');
  const modules = path.resolve(cli, '../../..');
  if (path.basename(folder) !== 'mcp-toolsets' || path.basename(modules) !== 'node_modules')
    return false;
  const lockFile = path.join(modules, '.package-lock.json');
  const lock = unlessThrown(
    () => JSON.parse(readTextFileSync(lockFile, largestForeignFile)) as HiddenLockFile | null,
  );
  const { integrity, resolved } = lock?.packages?.['node_modules/mcp-toolsets'] ?? {};
  // A setting of npm leaves out addresses, but only those of registries.
  const isOfRegistry =
    resolved === undefined || /^https?:\/\/[^?#]+\/mcp-toolsets\/-\/[^/?#]+\.tgz$/.test(resolved);
  return integrity !== undefined && isOfRegistry;
}

/** `node -e` has no file in its arguments, and the command line reads its own from the third on. */
function launcherText(known: readonly string[]): string {
  return `// Starts the command line of MCP Toolsets for the entries of other agents. MCP Toolsets keeps this file up to date.
const fs = require('fs');
const path = require('path');

const known = ${JSON.stringify(known)};

// An update of the extension replaces its folder by another one beside it. Names of packages have
// no version.
function beside(cli) {
  const folder = path.dirname(path.dirname(cli));
  const versions = path.dirname(folder);
  const name = path.basename(folder).replace(/-\\d.*$/, '-');
  if (!name.endsWith('-') || !fs.existsSync(versions)) return [];
  const names = fs.readdirSync(versions).filter((other) => other.startsWith(name) && /^\\d/.test(other.slice(name.length)));
  return names.map((other) => path.join(versions, other, 'dist', 'cli.js'));
}

function versionOf(cli) {
  try {
    const text = fs.readFileSync(path.join(cli, '..', '..', 'package.json'), 'utf8');
    return JSON.parse(text).version.split(/\\D+/).map(Number);
  } catch {
    return [0];
  }
}

function newer(a, b) {
  const [left, right] = [versionOf(a), versionOf(b)];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at < 0 ? 0 : (right[at] || 0) - (left[at] || 0);
}

const found = [...new Set(known.flatMap((cli) => [cli, ...beside(cli)]))].filter((cli) => fs.existsSync(cli)).sort(newer)[0];
if (found === undefined) {
  const folders = known.map((cli) => path.dirname(path.dirname(cli))).join(' or ');
  console.error('MCP Toolsets is no longer in ' + folders + '. Install the extension and open a workspace with .minds/mcp.yaml, or write the entries again.');
  process.exitCode = 1;
} else {
  if (require.main !== module) process.argv.splice(1, 0, __filename);
  require(found);
}
`;
}
