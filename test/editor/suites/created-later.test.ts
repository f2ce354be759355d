/**
 * A folder without a config file: a new file counts at once (G5), and the command that creates one
 * works.
 */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import {
  configFile,
  entry,
  folder,
  readConfig,
  toolIds,
  untilProblems,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

describe('a config file that is created later', () => {
  it('A new config file counts at once', async () => {
    assert.deepEqual(toolIds(), []);
    await writeConfig(`version: 1\nservers:\n  late: ${entry('raw.mjs', ['--tools', 'echo'])}\n`);
    await untilTools(['mcp_late_echo']);
  });

  it('A config file is followed when its folder is removed and restored', async () => {
    const text = await readConfig();
    await rm(dirname(configFile()), { recursive: true });
    await untilTools([]);
    await mkdir(dirname(configFile()));
    await writeFile(configFile(), text.replace('late:', 'later:'));
    await untilTools(['mcp_later_echo']);
  });

  it('A command creates a config file with an example without problems', async () => {
    await rm(dirname(configFile()), { recursive: true });
    await untilTools([]);
    await vscode.commands.executeCommand('mcpToolsets.createConfig');
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, configFile());
    assert.match(await readConfig(), /^version: 1$/m);
    await rm(dirname(configFile()), { recursive: true });
    await untilProblems([]);
    assert.ok(folder());
  });
});
