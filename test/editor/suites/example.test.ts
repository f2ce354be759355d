/**
 * The example workspace of `npm start` with three servers from the registry. The README shows its
 * picture.
 */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ask, calls, enableAgentMode } from '../../support/editor/agentMode.ts';
import { needsPage, page } from '../../support/editor/bridge.ts';
import {
  configFile,
  invoke,
  readConfig,
  until,
  toolIds,
  untilProblems,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

const tools = [
  ...[
    'read_text_file',
    'list_directory',
    'list_directory_with_sizes',
    'list_allowed_directories',
    'search_files',
  ].map((name) => `mcp_notes_${name}`),
  ...[
    'create_entities',
    'create_relations',
    'add_observations',
    'read_graph',
    'search_nodes',
    'open_nodes',
  ].map((name) => `mcp_memory_${name}`),
  ...['echo', 'sum', 'tiny-image', 'trigger-long-running-operation'].map(
    (name) => `mcp_everything_${name}`,
  ),
];

describe('the example', function () {
  this.timeout(120_000);

  before(async function () {
    // `npx` may have to fetch the servers first.
    this.timeout(15 * 60_000);
    for (let round = 1; toolIds().length < tools.length && round < 14; round++) {
      await until(toolIds, (ids) => ids.length >= tools.length, 'all tools').catch(() => undefined);
    }
    const problems = vscode.languages.getDiagnostics(vscode.Uri.file(configFile()));
    await untilTools(tools).catch((error: Error) =>
      assert.fail(`${error.message}\n${problems.map(({ message }) => message).join('\n')}`),
    );
    await enableAgentMode();
  });

  it('The example publishes the curated tools of three servers from the registry', async () => {
    assert.equal(await invoke('mcp_everything_sum', { a: 2, b: 40 }), 'The sum of 2 and 40 is 42.');
    await untilProblems([
      'filtered-tools whitelist',
      'filtered-tools blacklist',
      'filtered-tools whitelist',
    ]);
  });

  it('The example answers an agent, and shows an edit live and a mistake on its line', async function () {
    await needsPage(this);
    const path = vscode.Uri.joinPath(
      vscode.Uri.file(configFile()),
      '../../notes/welcome.md',
    ).fsPath;
    const { text } = await ask(calls({ tool: 'mcp_notes_read_text_file', input: { path } }));
    assert.match(text, /# Welcome/);
    const original = await readConfig();
    await writeConfig(
      original
        .replace("'get-sum', ", '')
        .replace(
          "command: npx\n    args: ['-y', '@modelcontextprotocol/server-memory",
          "command: npxx\n    args: ['-y', '@modelcontextprotocol/server-memory",
        ),
    );
    await untilTools(tools.filter((id) => id !== 'mcp_everything_sum'));
    await until(
      () => vscode.languages.getDiagnostics(vscode.Uri.file(configFile())),
      (all) => all.some(({ message }) => message.includes('npxx')),
      'the problem of the command',
    );
    await vscode.window.showTextDocument(vscode.Uri.file(configFile()));
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    await page.click('.part.sidebar .monaco-list-row[aria-label^="everything"]');
    await vscode.commands.executeCommand('workbench.actions.view.problems');
    await page.waitFor('.markers-panel .monaco-list-row');
    await page.screenshot('example');
  });
});
