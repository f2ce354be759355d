/** The sidebar and the status bar for a person (E3), and logs (E4). */
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
/** The tick box of a row. */
const tick = (label: string): string =>
  `${rows}[aria-label^="${label}"] .custom-view-tree-node-item-checkbox`;
const alpha = ['echo', 'pid', 'count', 'quiet'].map((name) => `mcp_alpha_${name}`);

/** The visible rows of the view, each as one line. */
async function view(): Promise<string[]> {
  return (await page.texts(rows)).map((text) => text.replace(/\s+/g, ' ').trim());
}

const untilRow = (pattern: RegExp): Promise<string[]> =>
  until(view, (lines) => lines.some((line) => pattern.test(line)), `a row ${String(pattern)}`);

/** Chooses an item in the menu of the focused row, this far down. */
async function choose(title: string, down: number): Promise<void> {
  await page.press('Shift+F10');
  await page.waitFor(`.context-view .action-label >> text=${title}`);
  for (let index = 0; index < down; index++) await page.press('ArrowDown');
  await page.waitFor(`.context-view .action-item.focused >> text=${title}`);
  await page.press('Enter');
}

describe('sidebar', () => {
  before(async function () {
    await needsPage(this);
    await untilTools([...alpha, 'mcp_beta_echo']);
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
  });

  it('The sidebar shows every server with its state and tools', async () => {
    await untilRow(/^alpha ?4 tools/);
    await untilRow(/^beta ?1 of 2/);
    await untilRow(/^gone ?did not start/);
    await untilRow(/^"gone" did not start: the command/);
    await untilRow(/^off ?disabled/);
    await untilRow(/^mcp_admin ?built in · 4 tools/);
    await page.screenshot('sidebar');
  });

  it('A server in the sidebar opens to its tools and the excluded ones with the reason', async () => {
    await page.click(`${rows}[aria-label^="beta"]`);
    await untilRow(/^echo/);
    await untilRow(/^add ?.*whitelist/);
    await page.click(`${rows}[aria-label^="Instances"]`);
    await untilRow(/^shared ?not called yet · <1 min old/);
    await page.screenshot('server-open');
  });

  it('A screen reader gets the state as text, not only as colour', async () => {
    await page.waitFor(`${rows}[aria-label^="gone, server, failed, did not start"]`);
    await page.waitFor(`${rows}[aria-label^="alpha, server, running, 4 tools"]`);
    await page.waitFor(`${rows}[aria-label^="add, kept out: not in the whitelist"]`);
  });

  it('The sidebar keeps expanded and selected rows while servers change', async () => {
    await page.click(`${rows}[aria-label^="shared by all"]`);
    await invoke('mcp_beta_echo', { text: 'x' });
    await untilRow(/^shared ?idle <1 min/);
    await page.waitFor(`${rows}.selected[aria-label^="shared by all"]`);
    await page.waitFor(`${rows}[aria-label^="add, kept out"]`);
  });

  it('The sidebar works with only the keyboard', async () => {
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    await page.press('Home');
    await page.waitFor(`${rows}.focused[aria-label^="alpha"]`);
    await page.press('ArrowRight');
    await page.waitFor(`${rows}[aria-label^="alpha_echo, tool, originally echo"]`);
    await page.press('Shift+F10');
    await page.waitFor('.context-view .action-label >> text=Restart Server');
    await page.screenshot('keyboard-menu');
    await page.press('Escape');
    await page.press('ArrowLeft');
    await page.waitFor(`${rows}[aria-label^="alpha"][aria-expanded="false"]`);
  });

  it('The sidebar explains a row under the pointer', async () => {
    await page.hover(`${rows}[aria-label^="alpha"]`);
    await page.waitFor('.workbench-hover >> text=one instance for each conversation');
    await page.screenshot('tooltip-server');
    await page.hover(`${rows}[aria-label^="add, kept out"]`);
    await page.waitFor('.workbench-hover >> text=add it to the whitelist');
    await page.screenshot('tooltip-excluded');
  });

  it('A ticked tool is published, and undo keeps it out again (N2)', async () => {
    const before = await readConfig();
    await page.click(`${tick('add')}`);
    await untilTools([...alpha, 'mcp_beta_add', 'mcp_beta_echo']);
    await page.waitFor(`${tick('add')}.codicon-check`);
    assert.equal(await readConfig(), before.replace("['echo']", "['echo', 'add']"));
    await vscode.window.showTextDocument(vscode.Uri.file(configFile()));
    await vscode.commands.executeCommand('undo');
    await vscode.commands.executeCommand('workbench.action.files.save');
    await untilTools([...alpha, 'mcp_beta_echo']);
    assert.equal(await readConfig(), before);
    await page.waitFor(`${rows}[aria-label^="add, kept out"]`);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('The keyboard keeps a tool out and publishes it', async () => {
    const before = await readConfig();
    await page.click(`${rows}[aria-label^="alpha"]`);
    await page.waitFor(tick('alpha_quiet'));
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    await page.press('Home');
    await page.press('ArrowDown');
    await page.press('ArrowDown');
    await page.waitFor(`${rows}.focused[aria-label^="alpha_pid"]`);
    await choose('Keep Out', 2);
    await untilTools(['mcp_alpha_count', 'mcp_alpha_echo', 'mcp_alpha_quiet', 'mcp_beta_echo']);
    assert.match(await readConfig(), /^ {4}tools:\n {6}blacklist:\n {8}- pid$/m);
    await page.waitFor(`${rows}.focused[aria-label^="pid, kept out: blacklist: pid"]`);
    await page.screenshot('ticks');
    await choose('Publish', 1);
    await untilTools([...alpha, 'mcp_beta_echo']);
    assert.equal(await readConfig(), before);
  });

  it('Several tools are kept out in one edit', async () => {
    const before = await readConfig();
    const row = (original: string): unknown => ({
      node: { server: 'alpha', original, ticked: true },
    });
    const chosen = [row('pid'), row('quiet')];
    await vscode.commands.executeCommand('mcpToolsets.keepOutTool', chosen[0], chosen);
    await untilTools(['mcp_alpha_count', 'mcp_alpha_echo', 'mcp_beta_echo']);
    await vscode.window.showTextDocument(vscode.Uri.file(configFile()));
    await vscode.commands.executeCommand('undo');
    await vscode.commands.executeCommand('workbench.action.files.save');
    await untilTools([...alpha, 'mcp_beta_echo']);
    assert.equal(await readConfig(), before);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
  });

  it('The Enter key opens “Try Tool”', async () => {
    await page.waitFor(`${rows}.focused[aria-label^="alpha_pid"]`);
    await page.press('Enter');
    await until(
      () => vscode.window.tabGroups.activeTabGroup.activeTab?.label,
      (label) => label?.includes('alpha_pid') === true,
      'the panel',
    );
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('A tool leads to the pattern that decides about it', async () => {
    const selected = async (original: string): Promise<string | undefined> => {
      await vscode.commands.executeCommand('mcpToolsets.goToPattern', {
        node: { server: 'beta', original },
      });
      const editor = vscode.window.activeTextEditor;
      return editor?.document.getText(editor.selection);
    };
    assert.equal(await selected('echo'), "'echo'");
    assert.equal(await selected('add'), 'whitelist');
  });

  it('The sidebar writes tool permissions of agents into the settings of the workspace (S4)', async () => {
    const node = { kind: 'tool', server: 'alpha', original: 'pid', published: 'alpha_pid' };
    const own = (): unknown =>
      vscode.workspace.getConfiguration('mcpToolsets').inspect('toolPermissions')?.workspaceValue ??
      {};
    await vscode.commands.executeCommand('mcpToolsets.denyTool', { node });
    await untilTools(['mcp_alpha_count', 'mcp_alpha_echo', 'mcp_alpha_quiet', 'mcp_beta_echo']);
    assert.deepEqual(own(), { alpha_pid: 'deny' });
    await vscode.commands.executeCommand('mcpToolsets.askBeforeCalls', { node });
    await untilTools([...alpha, 'mcp_beta_echo']);
    await page.waitFor(`${rows}[aria-label^="alpha_pid, tool, originally pid, asks before calls"]`);
    await vscode.commands.executeCommand('mcpToolsets.allowTool', { node });
    assert.deepEqual(own(), { alpha_pid: 'allow', pid: 'allow' });
    await vscode.workspace
      .getConfiguration('mcpToolsets')
      .update('toolPermissions', undefined, vscode.ConfigurationTarget.Workspace);
  });

  it('The sidebar shows the built-in toolset unless the setting switches it off (L5)', async () => {
    const settings = vscode.workspace.getConfiguration('mcpToolsets');
    const hasAdmin = (): boolean =>
      vscode.lm.tools.some(({ name }) => name.startsWith('mcp_admin_'));
    assert.ok(hasAdmin());
    await settings.update('adminTools', false, vscode.ConfigurationTarget.Global);
    await until(hasAdmin, (is) => !is, 'no mcp_admin');
    await until(
      view,
      (lines) => !lines.some((line) => line.startsWith('mcp_admin')),
      'no row of mcp_admin',
    );
    await settings.update('adminTools', undefined, vscode.ConfigurationTarget.Global);
    await until(hasAdmin, Boolean, 'mcp_admin');
  });

  it('An error can be copied', async () => {
    const node = { kind: 'problem', name: 'It failed. Do this.' };
    await vscode.commands.executeCommand('mcpToolsets.copyError', { node });
    assert.equal(await vscode.env.clipboard.readText(), 'It failed. Do this.');
  });

  it('The sidebar stops and starts the servers of several rows, and restarts or stops all', async () => {
    const both = ['alpha', 'beta'].map((server) => ({ node: { kind: 'server', server } }));
    await vscode.commands.executeCommand('mcpToolsets.stop', both[0], both);
    await untilTools([]);
    await vscode.commands.executeCommand('mcpToolsets.start', both[1], both);
    await untilTools([...alpha, 'mcp_beta_echo']);
    const pids = async (): Promise<number[]> => (await servers()).map(({ pid }) => pid);
    const before = await pids();
    await vscode.commands.executeCommand('mcpToolsets.restartAll');
    const after = await pids();
    assert.ok(after.length > 0 && after.every((pid) => !before.includes(pid)));
    await vscode.commands.executeCommand('mcpToolsets.stopAll');
    await untilTools([]);
    await vscode.commands.executeCommand('mcpToolsets.start', both[0], both);
    await untilTools([...alpha, 'mcp_beta_echo']);
  });

  it('The sidebar stops, starts and restarts a server', async () => {
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

  it('A row has its actions, and leads to the definition', async () => {
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

  it('The status bar counts the servers', async () => {
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

  it('The status bar has a panel of servers, and a click opens Manage Server', async () => {
    const item = '.statusbar-item:has-text("MCP 2/3")';
    await page.hover(item);
    const hover = '.monaco-hover:visible';
    await page.waitFor(`${hover} >> text=Manage Server…`);
    const [text = ''] = await page.texts(hover);
    assert.match(text, /alpha\s+running\s+4 tools\s+Restart · Show Log/);
    assert.match(text, /gone\s+failed\s+0 tools\s+Start · Show Log/);
    assert.match(text, /Last call: alpha_pid of alpha by /);
    await page.screenshot('status-panel');
    const pid = await invoke('mcp_alpha_pid');
    await page.click(`${hover} tr:has-text("alpha") a:has-text("Restart")`);
    await until(
      () => invoke('mcp_alpha_pid'),
      (now) => now !== pid,
      'another process',
    );
    const picker = '.quick-input-widget .monaco-list-row';
    await page.click(item);
    await page.waitFor(`${picker} >> text=Restart Server · Stop Server`);
    await page.screenshot('manage');
    await page.click(`${picker} >> text=off`);
    await page.waitFor(`${picker} >> text=Enable for Everyone`);
    assert.deepEqual(
      (await page.texts(picker)).map((line) => line.trim()),
      ['Show Server Log', 'Go to Server Definition', 'Enable for Me', 'Enable for Everyone'],
    );
    await page.click(`${picker}[aria-label^="Go to Server Definition"]`);
    await until(
      () => vscode.window.activeTextEditor,
      (editor) =>
        /^ {2}off:/.test(editor?.document.lineAt(editor.selection.active.line).text ?? ''),
      'the entry',
    );
  });

  it('An entry that starts and then fails is open', async () => {
    const original = await readConfig();
    await writeConfig(`${original}  fails: ${entry('exits.mjs')}\n`);
    await untilRow(/^fails ?exited with code 3/);
    await page.waitFor(`${rows}[aria-label^="fails"][aria-expanded="true"]`);
    await page.screenshot('failed-open');
    await writeConfig(original);
    await until(view, (lines) => !lines.some((line) => line.startsWith('fails')), 'no row');
  });

  it('A server’s log opens, with its stderr', async () => {
    await vscode.commands.executeCommand('mcpToolsets.showServerLog', 'alpha');
    await page.waitFor('.part.panel');
    await page.screenshot('log');
  });

  it('Diagnostics for a bug report are copied without secrets (E4)', async () => {
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

  it('“Why Is a Tool Missing?” says where agents get a tool, and has one row for each reason', async () => {
    const item = '.quick-input-widget .monaco-list-row';
    const ask = (row?: object) =>
      void vscode.commands.executeCommand('mcpToolsets.explainTool', row);
    const answers = async (tool: string): Promise<string[]> => {
      ask();
      await page.waitFor(`${item}[aria-label^="add, beta, kept out"]`);
      const first = (await page.texts(item))[0] ?? '';
      assert.match(first, /, (?:kept|left) out/, 'missing tools come first');
      await page.click(`${item}[aria-label^="${tool}"]`);
      await page.waitFor(`${item}[aria-label*="other agents"]`);
      const texts = await page.texts(item);
      await page.screenshot(`explain-${tool}`);
      await page.press('Escape');
      return texts;
    };
    const [publish, why, ...more] = await answers('add');
    assert.match(publish ?? '', /^Publish It/);
    assert.match(why ?? '', /^editor, agent sessions, other agents: not published[^]*whitelist/);
    assert.deepEqual(more, []);
    assert.match(
      (await answers('alpha_count')).join('\n'),
      /^editor: published[^]*mcp_alpha_count[^]*\nother agents: published/,
    );
    assert.match(
      (await answers('mcp_status')).join('\n'),
      /^editor: published[^]*mcp_admin_status[^]*other agents: published/,
    );

    ask();
    await page.click(`${item}[aria-label^="add"]`);
    await page.click(`${item}[aria-label*="other agents"]`);
    await until(
      () => vscode.window.activeTextEditor,
      (editor) => editor?.document.getText(editor.selection) === 'whitelist',
      'the key that keeps the tool out',
    );
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('“Why Is a Tool Missing?” names the cause for a server without tools, and leads to what can be done', async () => {
    const item = '.quick-input-widget .monaco-list-row';
    void vscode.commands.executeCommand('mcpToolsets.explainTool');
    await page.click(`${item}[aria-label*="no-such-command"]`);
    await page.waitFor(`${item}[aria-label^="Start Server"]`);
    await page.press('Escape');
  });

  it('“Why Is a Tool Missing?” of a row asks for no tool and publishes it', async () => {
    const item = '.quick-input-widget .monaco-list-row';
    const original = await readConfig();
    const row = { node: { server: 'beta', original: 'add' } };
    void vscode.commands.executeCommand('mcpToolsets.explainTool', row);
    await page.click(`${item}[aria-label^="Publish It"]`);
    await until(
      () => vscode.lm.tools.map(({ name }) => name),
      (names) => names.includes('mcp_beta_add'),
      'the tool',
    );
    assert.match(await readConfig(), /whitelist: .*add/);
    await writeConfig(original);
    await until(
      () => vscode.lm.tools.map(({ name }) => name),
      (names) => !names.includes('mcp_beta_add'),
      'the tool is gone',
    );
  });

  it('The problems of the file open', async () => {
    await vscode.commands.executeCommand('workbench.actions.view.problems');
    await until(
      () => page.texts('.markers-panel .monaco-list-row'),
      (all) => all.some((text) => text.includes('no-such-command')),
      'the problem',
    );
    await page.screenshot('problems');
  });

  it('More tools than some models take cause a warning', async () => {
    const original = await readConfig();
    const many = entry('pages.mjs', ['--pages', '1', '--tools-per-page', '130']);
    await writeConfig(
      `version: 1\nservers:\n  few: ${entry('raw.mjs', ['--tools', 'echo'])}\n  many: ${many}\n`,
    );
    await untilProblems(['too-many-tools many']);
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    await untilRow(/^many ?130 tools · ~[\d.]+k tokens · stdio/);
    await page.waitFor('.part.sidebar .message >> text=take at most 128 tools');
    await page.waitFor('.statusbar-item.warning-kind >> text=MCP 2/2');
    await page.screenshot('too-many-tools');
    await writeConfig(original);
    await untilProblems(['command-not-found no-such-command', 'filtered-tools whitelist']);
  });

  describe('an empty sidebar names the next step', () => {
    const untilText = (pattern: RegExp): Promise<string[]> =>
      until(
        () => page.texts('.part.sidebar .pane-body'),
        (texts) => texts.some((text) => pattern.test(text)),
        String(pattern),
      );

    it('The sidebar names the next step if all servers are disabled', async () => {
      const off = entry('raw.mjs', [], 'enabled: false');
      await writeConfig(`version: 1\nservers:\n  a: ${off}\n  b: ${off}\n`);
      await untilText(/Every server is disabled/);
      await page.screenshot('all-disabled');
    });

    it('The sidebar names the next step without a server', async () => {
      await writeConfig('version: 1\nservers: {}\n');
      await untilText(/has no servers yet/);
      await page.screenshot('no-server');
    });

    it('The sidebar names the next step without a file', async () => {
      await removeConfig();
      await untilText(/Create Config File/);
      await page.screenshot('no-file');
    });

    it('The sidebar names the next step for a file that was never valid', async () => {
      await writeConfig('version: 1\nservers: [\n');
      await untilText(/Line [23]: /);
      await page.screenshot('broken');
      await page.click(`${rows}[aria-label^="error: Line "]`);
      const editor = await until(
        () => vscode.window.activeTextEditor,
        (shown) => shown?.document.uri.fsPath === configFile(),
        'the file',
      );
      const [row = ''] = await view();
      assert.ok(row.startsWith(`Line ${(editor?.selection.active.line ?? 0) + 1}: `), row);
    });
  });
});
