/** The sidebar and the status bar, as a person sees and uses them (E3); logs (E4). */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { needsPage, page } from '../../support/editor/bridge.ts';
import {
  configFile,
  entry,
  invoke,
  readConfig,
  removeConfig,
  servers,
  until,
  untilProblems,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

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
    await untilRow(/^gone ?did not start/);
    await untilRow(/^"gone" did not start: the command/);
    await untilRow(/^off ?disabled/);
    await page.screenshot('sidebar');
  });

  it('opens a server: its tools, those left out with the reason', async () => {
    await page.click(`${rows}[aria-label^="beta"]`);
    await untilRow(/^echo/);
    await page.click(`${rows}[aria-label^="Kept out"]`);
    await untilRow(/^add ?.*whitelist/);
    await page.click(`${rows}[aria-label^="Instances"]`);
    await untilRow(/^shared ?not called yet · <1 min old/);
    await page.screenshot('server-open');
  });

  it('says the state to a screen reader, not by colour alone', async () => {
    await page.waitFor(`${rows}[aria-label^="gone, server, failed, did not start"]`);
    await page.waitFor(`${rows}[aria-label^="alpha, server, running, 4 tools"]`);
    await page.waitFor(`${rows}[aria-label^="add, kept out: not in the whitelist"]`);
  });

  it('keeps what is unfolded and selected while servers change', async () => {
    await page.click(`${rows}[aria-label^="shared by all"]`);
    await invoke('mcp_beta_echo', { text: 'x' });
    await untilRow(/^shared ?idle <1 min/);
    await page.waitFor(`${rows}.selected[aria-label^="shared by all"]`);
    await page.waitFor(`${rows}[aria-label^="add, kept out"]`);
  });

  it('is used with the keyboard alone', async () => {
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    await page.press('Home');
    await page.waitFor(`${rows}.focused[aria-label^="alpha"]`);
    await page.press('ArrowRight');
    await page.waitFor(`${rows}[aria-label="alpha_echo, tool, originally echo"]`);
    await page.press('Shift+F10');
    await page.waitFor('.context-view .action-label >> text=Restart Server');
    await page.screenshot('keyboard-menu');
    await page.press('Escape');
    await page.press('ArrowLeft');
    await page.waitFor(`${rows}[aria-label^="alpha"][aria-expanded="false"]`);
  });

  it('explains a row when the pointer rests on it', async () => {
    await page.hover(`${rows}[aria-label^="alpha"]`);
    await page.waitFor('.workbench-hover >> text=one instance for each conversation');
    await page.screenshot('tooltip-server');
    await page.hover(`${rows}[aria-label^="add, kept out"]`);
    await page.waitFor('.workbench-hover >> text=add it to the whitelist');
    await page.screenshot('tooltip-excluded');
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
    await page.hover(`${rows}[aria-label^="gone"]`);
    await page.waitFor(`${rows}[aria-label^="gone"] .action-label[aria-label*="Show Server Log"]`);
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

  it('copies diagnostics for a bug report, without secrets (E4)', async () => {
    await vscode.commands.executeCommand('mcpToolsets.copyDiagnostics');
    const text = await until(
      () => vscode.env.clipboard.readText(),
      (copied) => copied.startsWith('# MCP Toolsets: diagnostics'),
      'diagnostics on the clipboard',
    );
    assert.match(text, /- beta: running · stdio · 1 of 2 tools/);
    assert.match(text, /error `command-not-found` \.minds\/mcp\.yaml:\d+/);
    assert.match(text, /## Log: MCP Toolsets: alpha/);
    assert.match(text, /"TOKEN": "•••"/);
    assert.doesNotMatch(text, /canary/);
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

  it('warns where there are more tools than some models take', async () => {
    const original = await readConfig();
    const many = entry('pages.mjs', ['--pages', '1', '--tools-per-page', '130']);
    await writeConfig(`version: 1\nservers:\n  few: ${entry('raw.mjs', ['--tools', 'echo'])}\n  many: ${many}\n`);
    await untilProblems(['too-many-tools many']);
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    await untilRow(/^many ?130 tools · ~[\d.]+k tokens · stdio/);
    await page.waitFor('.part.sidebar .message >> text=take at most 128 tools');
    await page.waitFor('.statusbar-item.warning-kind >> text=MCP 2/2');
    await page.screenshot('too-many-tools');
    await writeConfig(original);
    await untilProblems(['command-not-found no-such-command', 'filtered-tools whitelist']);
  });

  describe('says how to go on where it is empty', () => {
    const untilText = (pattern: RegExp): Promise<string[]> =>
      until(
        () => page.texts('.part.sidebar .pane-body'),
        (texts) => texts.some((text) => pattern.test(text)),
        String(pattern),
      );

    it('all disabled', async () => {
      const off = entry('raw.mjs', [], 'enabled: false');
      await writeConfig(`version: 1\nservers:\n  a: ${off}\n  b: ${off}\n`);
      await untilText(/Every server is disabled/);
      await page.screenshot('all-disabled');
    });

    it('no server', async () => {
      await writeConfig('version: 1\nservers: {}\n');
      await untilText(/has no servers yet/);
      await page.screenshot('no-server');
    });

    it('no file', async () => {
      await removeConfig();
      await untilText(/Create Config File/);
      await page.screenshot('no-file');
    });

    it('a file that was never right', async () => {
      await writeConfig('version: 1\nservers: [\n');
      await untilText(/has an error/);
      await page.screenshot('broken');
      await page.click('.part.sidebar .monaco-button >> text=Open Config File');
      await until(
        () => vscode.window.activeTextEditor?.document.uri.fsPath,
        (path) => path === configFile(),
        'the file',
      );
    });
  });
});
