/** The sidebar and the status bar, as a person sees and uses them (E3); logs (E4). */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { needsPage, page } from '../../support/editor/bridge.ts';
import { configFile, invoke, servers, until, untilTools } from '../../support/editor/product.ts';

const rows = '.part.sidebar .monaco-list-row';
const alpha = ['echo', 'pid', 'count', 'quiet'].map((name) => `mcp_alpha_${name}`);

/** The rows of the view that are visible, each as one line. */
async function view(): Promise<string[]> {
  return (await page.texts(rows)).map((text) => text.replace(/\s+/g, ' ').trim());
}

const untilRow = (pattern: RegExp): Promise<string[]> =>
  until(view, (lines) => lines.some((line) => pattern.test(line)), `a row ${String(pattern)}`);

describe('sidebar', () => {
  before(async function () {
    await needsPage(this);
    await untilTools([...alpha, 'mcp_beta_echo']);
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
  });

  it('shows every server with its state and tools', async () => {
    await untilRow(/^alpha ?4 tools/);
    await untilRow(/^beta ?1 of 2/);
    await untilRow(/^gone ?failed/);
    await untilRow(/^off ?disabled/);
    await page.screenshot('sidebar');
  });

  it('opens a server: its tools, those left out with the reason', async () => {
    await page.click(`${rows}[aria-label^="beta"]`);
    await untilRow(/^echo/);
    await page.click(`${rows}[aria-label^="Kept out"]`);
    await untilRow(/^add ?.*whitelist/);
    await page.click(`${rows}[aria-label^="Instances"]`);
    await page.screenshot('server-open');
  });

  it('says the state to a screen reader, not by colour alone', async () => {
    await page.waitFor(`${rows}[aria-label*="gone"][aria-label*="ailed"]`);
  });

  it('stops, starts and restarts a server', async () => {
    await vscode.commands.executeCommand('mcpToolsets.stop', 'alpha');
    await untilTools(['mcp_beta_echo']);
    await untilRow(/^alpha ?stopped/);
    assert.equal((await servers()).length, 1);
    await vscode.commands.executeCommand('mcpToolsets.start', 'alpha');
    await untilTools([...alpha, 'mcp_beta_echo']);
    const pid = await invoke('mcp_alpha_pid');
    await vscode.commands.executeCommand('mcpToolsets.restart', 'alpha');
    await until(
      () => invoke('mcp_alpha_pid'),
      (now) => now !== pid,
      'another process',
    );
  });

  it('has the actions on the row, and goes to the definition', async () => {
    await page.hover(`${rows}[aria-label^="alpha"]`);
    await page.waitFor(`${rows}[aria-label^="alpha"] .action-label[aria-label*="Restart"]`);
    await page.screenshot('row-actions');
    await vscode.commands.executeCommand('mcpToolsets.goToDefinition', 'beta');
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.uri.fsPath, configFile());
    assert.match(editor.document.lineAt(editor.selection.active.line).text, /^ {2}beta:/);
  });

  it('counts the servers in the status bar', async () => {
    const bar = await until(
      () => page.texts('.statusbar-item'),
      (all) => all.some((text) => /MCP \d\/\d/.test(text)),
      'the status bar item',
    );
    assert.ok(
      bar.some((text) => text.includes('MCP 2/3')),
      bar.join(' | '),
    );
  });

  it('shows a server’s log, with its stderr', async () => {
    await vscode.commands.executeCommand('mcpToolsets.showServerLog', 'alpha');
    await page.waitFor('.part.panel');
    await page.screenshot('log');
  });

  it('shows the problems of the file', async () => {
    await vscode.commands.executeCommand('workbench.actions.view.problems');
    await until(
      () => page.texts('.markers-panel .monaco-list-row'),
      (all) => all.some((text) => text.includes('no-such-command')),
      'the problem',
    );
    await page.screenshot('problems');
  });
});
