/** Keeps `~/.minds/bin/mcp-toolsets.js` for the entries of other agents (G6). Its path outlives updates of the extension. */
import path from 'node:path';
import { makePrivateFile } from '../base/privateFile.js';
import { largestConfigFile, readTextFile } from '../base/textFile.js';

/** Rejects as `node:fs/promises` does. @param cli the absolute path of `cli.js` in the extension, or of another build */
export async function writeLauncher(home: string, cli: string): Promise<void> {
  const file = path.join(home, '.minds', 'bin', 'mcp-toolsets.js');
  const text = launcherText(cli);
  const there = await readTextFile(file, largestConfigFile).catch(() => undefined);
  if (there !== text) await makePrivateFile(file, text);
}

/** `node -e` has no file in its arguments, and the command line reads its own from the third on. */
function launcherText(cli: string): string {
  return `// Starts the command line of MCP Toolsets for the entries of other agents. The extension keeps this file up to date.
const fs = require('fs');
const path = require('path');

const cli = ${JSON.stringify(cli)};

// An update of the extension replaces its folder by another one beside it.
function newest() {
  const folder = path.dirname(path.dirname(cli));
  const versions = path.dirname(folder);
  const name = path.basename(folder).replace(/-\\d.*$/, '-');
  const names = fs.existsSync(versions) ? fs.readdirSync(versions) : [];
  const found = names.filter((other) => other.startsWith(name)).map((other) => path.join(versions, other, 'dist', 'cli.js'));
  const age = (file) => -fs.statSync(file).mtimeMs;
  return found.filter((file) => fs.existsSync(file)).sort((a, b) => age(a) - age(b))[0];
}

const found = fs.existsSync(cli) ? cli : newest();
if (found === undefined) {
  console.error('MCP Toolsets is no longer in ' + path.dirname(path.dirname(cli)) + '. Install the extension and open a workspace with .minds/mcp.yaml.');
  process.exitCode = 1;
} else {
  if (require.main !== module) process.argv.splice(1, 0, __filename);
  require(found);
}
`;
}
