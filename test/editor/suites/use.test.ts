/** The sidebar shows how often tools were called, and keeps out what nobody calls (H1d). */
import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { recordDays } from '../../support/core/recordedUse.ts';
import { needsPage, page } from '../../support/editor/bridge.ts';
import {
  configFile,
  entry,
  problems,
  readConfig,
  until,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

const rows = '.part.sidebar .monaco-list-row';
const tools = ['--tools', 'echo,count,fail,exit'];
const file = `version: 1\nservers:\n  a: ${entry('raw.mjs', tools)}\n`;
const ids = (...names: string[]): string[] => names.map((name) => `mcp_a_${name}`);

describe('the use of tools', () => {
  before(async function () {
    await needsPage(this);
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
    const called = ['echo', 'count'];
    await recordDays({ folder, home: homedir(), toolset: 'a', tools: called, days: 40 });
    await writeConfig(file);
    await untilTools(ids('echo', 'count', 'fail', 'exit'));
  });

  it('A row says how often its tool was called, or that nobody called it', async () => {
    await page.waitFor(`${rows}[aria-label*="used 2 of 4"]`);
    await page.click(`${rows}[aria-label^="a, server"]`);
    await page.waitFor(`${rows}[aria-label^="echo"][aria-label*="41 calls, last 1 h ago"]`);
    await page.waitFor(`${rows}[aria-label^="exit"][aria-label*="never called in 30 days"]`);
    await page.hover(`${rows}[aria-label^="echo"]`);
    await page.waitFor('.workbench-hover >> text=41 calls, last 1 h ago');
    await page.screenshot('use');
  });

  it('One information at the server says what unused tools cost, and its quick fix keeps them out', async () => {
    const found = await until(
      problems,
      (all) => all.some(({ code }) => code === 'tools-unused'),
      'the information',
    );
    const own = found.filter(({ code }) => code === 'tools-unused');
    assert.deepEqual(
      own.map(({ severity, text }) => [severity, text]),
      [['Information', 'a']],
    );
    assert.match(own[0]?.message ?? '', /2 of 4 tools of "a" were never called in 30 days/);
    // The editor asks for fixes of open documents only.
    await vscode.workspace.openTextDocument(configFile());
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      vscode.Uri.file(configFile()),
      new vscode.Range(2, 2, 2, 3),
      vscode.CodeActionKind.QuickFix.value,
    );
    const action = actions.find(({ title }) => title === "Keep out unused tools of 'a'…");
    assert.ok(action?.command);
    const { command, arguments: given = [] } = action.command;
    const done = vscode.commands.executeCommand(command, ...(given as unknown[]));
    await page.waitFor('.quick-input-widget >> text=Keep Out Unused Tools: 2 tools');
    await page.screenshot('keepOut');
    await page.press('Enter');
    await done;
    await untilTools(ids('echo', 'count'));
    assert.match(await readConfig(), /blacklist: ?\[ ?(exit, fail|fail, exit) ?\]/);
    await page.waitFor(`${rows}[aria-label*="used 2 of 2"]`);
    await until(
      problems,
      (all) => all.every(({ code }) => code !== 'tools-unused'),
      'no information',
    );
  });
});
