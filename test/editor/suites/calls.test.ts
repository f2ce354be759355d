/** The view *Calls*: what agents did on this folder (E3, H1b). */
import assert from 'node:assert/strict';
import { appendFile, readdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { page } from '../../support/editor/bridge.ts';
import {
  callPage,
  invoke,
  readConfig,
  until,
  untilProblems,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';
import { inWebview } from '../../support/editor/webviews.ts';

const pane = '.pane:has(.pane-header[aria-label^="Calls"])';
const rows = `${pane} .monaco-list-row`;
const picker = '.quick-input-widget .monaco-list-row';
const plainTools = ['echo', 'count', 'fail', 'exit', 'schema'].map((name) => `mcp_plain_${name}`);

async function view(): Promise<string[]> {
  return (await page.texts(rows)).map((text) => text.replace(/\s+/g, ' ').trim());
}

const untilRow = (pattern: RegExp): Promise<string[]> =>
  until(view, (lines) => lines.some((line) => pattern.test(line)), `a row ${String(pattern)}`);

/** The record of the folder, which all programs share. */
async function record(): Promise<string> {
  const calls = join(homedir(), '.minds', 'calls');
  const isRecord = (name: string): boolean =>
    name.endsWith('.jsonl') && !name.endsWith('.counts.jsonl');
  const files = (await readdir(calls)).filter(isRecord);
  assert.equal(files.length, 1, files.join());
  return join(calls, files[0] ?? '');
}

/**
 * Chooses from the menu of a row by the keyboard, because a new menu ignores the mouse for a
 * moment.
 */
async function pick(row: string, item: string): Promise<void> {
  await page.click(row, { button: 'right' });
  await page.waitFor(`.context-view .action-item >> text=${item}`);
  const focused = (): Promise<string[]> => page.texts('.context-view .action-item.focused');
  for (let tries = 0; tries < 20 && !(await focused()).join().includes(item); tries += 1)
    await page.press('ArrowDown');
  assert.match((await focused()).join(), new RegExp(item));
  await page.press('Enter');
}

async function focusRows(): Promise<void> {
  await vscode.commands.executeCommand('mcpToolsets.calls.focus');
  await page.press('Home');
}

/** The editor under test shows no toasts, so they are in its centre. */
const notifications = async (): Promise<string[]> => {
  await vscode.commands.executeCommand('notifications.showList');
  return page.texts('.notifications-center .notification-list-item');
};

const goFirst = 'Rules with arguments go before the permission of “echo”';

async function untilShown(call: RegExp): Promise<void> {
  const label = (): string => vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '';
  await until(label, (text) => call.test(text), `the page of ${String(call)}`);
}

/** Facts that another program adds. */
function foreignCalls(from: number, count: number, age = 60_000): string {
  return Array.from({ length: count }, (_, index) => {
    const number = from + index;
    return `${JSON.stringify({
      id: 'other',
      at: Date.now() - age,
      agent: number % 2 === 0 ? 'codex' : 'Claude Code',
      conversation: `mcp-session:${number % 7}0000000`,
      toolset: 'files',
      tool: `files_read_${number}`,
      original: 'read',
      outcome: number % 50 === 0 ? 'error' : 'ok',
      calls: [number, 0, number % 5 === 0 ? 2_500 : 12, 20, 400],
    })}\n`;
  }).join('');
}

describe('calls', () => {
  before(async () => {
    await rm(join(homedir(), '.minds', 'calls'), { recursive: true, force: true }); // Other suites use this folder.
    await untilTools([...plainTools, 'mcp_shop_order']);
    await vscode.commands.executeCommand('mcpToolsets.calls.focus');
    await page.click('.pane-header[aria-label^="Servers"]'); // The view gets the whole height.
  });

  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('The view Calls shows each call with its outcome as it ends, and counts the server events', async () => {
    await invoke('mcp_plain_echo', { text: 'from the agent' });
    await untilRow(/^echo ?.*now/);
    await invoke('mcp_plain_fail', { message: 'no' });
    await invoke('mcp_plain_exit', { code: 3 });
    await untilRow(/^fail/);
    await page.waitFor(`${pane} .pane-header >> text=/^3 calls · [1-9]\\d* server events?$/`);
    assert.ok((await view()).every((line) => /^(echo|fail|exit)/.test(line)));
    await page.screenshot('calls-alone');
  });

  it('Server events stand between the calls on demand', async () => {
    await vscode.commands.executeCommand('mcpToolsets.showServerEvents');
    await untilRow(/^plain lost an instance ?.*exited with code 3/);
    await page.waitFor(`${rows}[aria-label^="exit, lost, "]`);
    await page.waitFor(`${rows}[aria-label^="echo, ok, "]`);
    await page.screenshot('calls');
  });

  it('The view Calls is readable in a dark theme and in a narrow sidebar', async () => {
    const theme = (name: string | undefined) =>
      vscode.workspace
        .getConfiguration('workbench')
        .update('colorTheme', name, vscode.ConfigurationTarget.Global);
    await theme('Default Dark Modern');
    await page.waitFor('.monaco-workbench.vs-dark');
    await page.screenshot('calls-dark');
    await theme(undefined);
    for (const change of ['increase', 'decrease']) {
      // The editor's width changes, so the sidebar gets narrow.
      await page.click(`${pane} .pane-header`, { button: 'right' });
      await page.press('Escape'); // The sidebar has the focus, and no row is chosen.
      for (let step = 0; step < 2; step += 1)
        await vscode.commands.executeCommand(`workbench.action.${change}ViewWidth`);
      if (change === 'increase') await page.screenshot('calls-narrow');
    }
    await page.waitFor(`${rows}[aria-label^="echo, ok, "]`);
  });

  it('A click on a call opens its page with what went in and out', async () => {
    await page.click(`${rows}[aria-label^="echo, ok"]`);
    assert.match(
      await callPage(),
      /^# echo\n\n[^]*## Input\n\n```json\n\{\n {2}"text": "from the agent"\n\}[^]*## Output/,
    );
    await page.waitFor(inWebview('h1:has-text("echo")'));
    await page.screenshot('call-page');
  });

  it('Try Again opens Try Tool with the arguments of the call', async () => {
    await pick(`${rows}[aria-label^="echo, ok"]`, 'Try Again');
    await until(
      () => page.texts(inWebview('[role="status"], .status')),
      (texts) => texts.join().includes('arguments of an earlier call'),
      'the filled form',
    );
    await page.screenshot('try-again');
  });

  it('A call is copied as a command for a terminal', async () => {
    await pick(`${rows}[aria-label^="fail, error"]`, 'Copy as Command');
    await until(
      () => vscode.env.clipboard.readText(),
      (text) => text === `mcp-toolsets call fail '{"message":"no"}'`,
      'the command',
    );
  });

  it('The menu of a call fixes an argument to what was sent, asks next time, and keeps the tool out', async () => {
    const original = await readConfig();
    const settings = () => vscode.workspace.getConfiguration('mcpToolsets');
    const echo = `${rows}[aria-label^="echo, ok"]`;
    await focusRows();
    await pick(echo, 'Fix an Argument to What Was Sent');
    await page.screenshot('calls-fix-argument');
    await page.click('.quick-input-widget .monaco-list-row[aria-label^="text"]');
    const fixed = await until(readConfig, (text) => text !== original, 'the override');
    assert.match(fixed, /echo:\s+arguments:\s+text:\s+fixed: "from the agent"/);
    const properties = (): string[] => {
      const tool = vscode.lm.tools.find(({ name }) => name === 'mcp_plain_echo');
      return Object.keys((tool?.inputSchema as { properties?: object })?.properties ?? {});
    };
    await until(properties, (names) => names.length === 0, 'the schema without the argument');
    assert.equal(await invoke('mcp_plain_echo', {}), 'from the agent');
    // The person has chosen it, so there is nothing to accept (O5).
    await untilProblems([]);

    await focusRows();
    const rule = { 'echo(text: rm *)': 'deny' };
    await settings().update('toolPermissions', rule, vscode.ConfigurationTarget.Global);
    await pick(echo, 'Ask Next Time');
    const permissions = () => settings().get<Record<string, string>>('toolPermissions') ?? {};
    await until(permissions, (rules) => rules['echo'] === 'ask', 'the permission');
    const says = (texts: string[]): boolean => texts.some((text) => text.includes(goFirst));
    await until(notifications, says, 'the information about rules with arguments');
    await vscode.commands.executeCommand('notifications.clearAll');
    await settings().update('toolPermissions', undefined, vscode.ConfigurationTarget.Global);

    await focusRows();
    await pick(echo, 'Keep This Tool Out');
    await until(
      readConfig,
      (text) => /blacklist:\s+- 'echo'|blacklist: \['?echo/.test(text),
      'the list',
    );
    await until(
      () => vscode.lm.tools.map(({ name }) => name),
      (names) => !names.includes('mcp_plain_echo'),
      'the tool is gone',
    );
    await writeConfig(original);
    await until(
      () => vscode.lm.tools.map(({ name }) => name),
      (names) => names.includes('mcp_plain_echo'),
      'the tool is back',
    );
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('The instance of a call is shown under Servers', async () => {
    await invoke('mcp_plain_count');
    await pick(`${rows}[aria-label^="count, ok"]`, 'Show Instance');
    await page.waitFor('.part.sidebar .monaco-list-row.selected[aria-label*="instance"]');
    await page.screenshot('instance');
  });

  it('An edit of a server stands between the calls', async () => {
    const before = await readConfig();
    await writeConfig(before.replace('  shop:', '  shop:\n    tools: { blacklist: [nothing] }'));
    await untilRow(/^shop was edited ?its tools or limits were changed/);
    await writeConfig(before);
  });

  it('Calls of other programs appear, and 10,000 of them are rows in pages', async () => {
    const file = await record();
    await appendFile(file, foreignCalls(0, 10_000, 90_000));
    await untilRow(/^files_read_9999 ?no content · Claude Code/);
    await page.screenshot('ten-thousand');
    await focusRows();
    await page.press('End');
    await untilRow(/^\d.* to .*200 calls, 4 failed/);
    await page.screenshot('pages');
    await vscode.commands.executeCommand('mcpToolsets.showNewCalls');
  });

  it('The view keeps its place while calls come in', async () => {
    await focusRows();
    for (let row = 0; row < 60; row += 1) await page.press('ArrowDown');
    await page.press('Enter');
    await untilShown(/^files_read_99[0-8]\d$/);
    const [first = ''] = await view();
    assert.match(first, /^files_read_99[0-8]/, 'scrolled');
    await appendFile(await record(), foreignCalls(10_000, 3));
    await page.waitFor(`${pane} >> text=3 new rows wait while an older one is selected`);
    await page.screenshot('place');
    assert.equal((await view())[0]?.slice(0, 15), first.slice(0, 15));
    await focusRows();
    await page.press('Escape');
    await untilRow(/^files_read_10002/);
  });

  it('Calls are filtered by words and grouped by conversation', async () => {
    const group = async (by: string): Promise<void> => {
      void vscode.commands.executeCommand('mcpToolsets.groupCalls');
      await page.click(`${picker} >> text=${by}`);
    };
    await vscode.commands.executeCommand('mcpToolsets.hideServerEvents');
    await group('conversation');
    await untilRow(/^conversation \d0000000 ?14\d\d calls/);
    await page.screenshot('by-conversation');
    await group('time');
    void vscode.commands.executeCommand('mcpToolsets.filterCalls');
    await page.waitFor('.quick-input-widget >> text=Filter Calls');
    await page.type('failed agent:codex slow:2s');
    const filtered = (): Promise<string[]> =>
      until(
        view,
        (lines) => lines.length > 0 && lines.every((line) => /codex|calls, /.test(line)),
        'filtered rows',
      );
    await filtered();
    await page.screenshot('while-typing');
    await page.press('Enter');
    await page.waitFor('.quick-input-widget', 'hidden');
    await filtered();
    await page.waitFor(`${pane} >> text=Filter: failed agent:codex slow:2s`);
    await page.screenshot('filtered');
  });

  it('A filter is refined from its text, with words to choose, and Escape brings it back', async () => {
    void vscode.commands.executeCommand('mcpToolsets.filterCalls');
    await page.waitFor(`${picker} >> text=agent:claude-code`);
    await page.press('End');
    await page.type(' outc');
    // The rows of the whole text are there. A click on a row that is being replaced says nothing.
    await page.waitFor(`${picker} >> text=/^Show 0 of/`);
    await page.click(`${picker} >> text=outcome:error`);
    await page.waitFor(`${pane} >> text=Filter: failed agent:codex slow:2s outcome:error`);
    await page.screenshot('refined');
    await page.press('Escape');
    await page.waitFor(`${pane} >> text=/^Filter: failed agent:codex slow:2s ·/`);
    await vscode.commands.executeCommand('mcpToolsets.clearCallFilter');
  });

  it('The shown calls are exported', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'export-'));
    const target = join(folder, 'calls.jsonl');
    void vscode.commands.executeCommand('mcpToolsets.exportCalls');
    const dialog = '.quick-input-widget:visible:has-text("Export Calls")';
    // The dialog writes its own path once it has listed a folder.
    await page.waitFor(`${dialog} .monaco-list-row`);
    await page.fill(`${dialog} input[type="text"]`, target);
    const exported = await until(
      async () => {
        // The dialog ignores the key while it reads the folder.
        if ((await page.texts(dialog)).length > 0) await page.press('Enter');
        return readFile(target, 'utf8').catch(() => '');
      },
      (text) => text !== '',
      'the file',
    );
    await rm(folder, { recursive: true });
    assert.ok(exported.split('\n').length > 9_000);
    assert.doesNotMatch(exported, /from the agent/);
  });
});
