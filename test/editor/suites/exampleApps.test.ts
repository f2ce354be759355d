/**
 * The apps of example servers that come with MCP Apps (G8), written by others with the SDK of apps: under other names and behind
 * a whitelist, in the editor's chat and beside *Try Tool*, a button in their frames has its effect.
 */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ask, calls, enableAgentMode, modelRequests } from '../../support/editor/agentMode.ts';
import { press, tryApp, untilShown } from '../../support/editor/appFrames.ts';
import { page } from '../../support/editor/bridge.ts';
import { until, untilTools } from '../../support/editor/product.ts';
import { inPanelApp, inWebview } from '../../support/editor/webviews.ts';

const published = ['mcp_clock_my_get-time', 'mcp_monitor_my_get-system-info'];
const isoTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** When it was answered last. */
const time = /^\d\d:\d\d:\d\d$/;
type Find = (selector: string) => string;

describe('the example servers of MCP Apps', () => {
  before(async () => {
    await untilTools(published);
    await enableAgentMode();
  });

  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  /** The button asks the server by the tool's original name. */
  async function usesClock(find: Find, picture: string): Promise<void> {
    const first = await untilShown(find('#server-time'), isoTime);
    await page.click(find('#get-time-btn'));
    const second = await until(
      async () => (await page.texts(find('#server-time'))).join(),
      (text) => isoTime.test(text) && text !== first,
      'another time',
    );
    assert.ok(second > first, `${second} after ${first}`);
    await page.screenshot(picture);
  }

  /** It polls by a tool that it alone uses, until its button is pressed and when it is pressed again. */
  async function usesMonitor(find: Find, picture: string): Promise<void> {
    assert.equal(await untilShown(find('#info-platform'), /\w/), `${process.platform} ${process.arch}`);
    await untilShown(find('#status-text'), time);
    await page.screenshot(picture);
    await press(find('#poll-toggle-btn'), find('#poll-toggle-btn'), /^Start$/);
    await press(find('#poll-toggle-btn'), find('#status-text'), time);
  }

  it('work in the editor’s chat', async () => {
    await vscode.commands.executeCommand('workbench.action.openChat');
    await ask(calls({ tool: 'mcp_clock_my_get-time' }));
    await usesClock(inWebview, 'chat-clock');
    const offered = (await modelRequests()).at(-1)?.tools.map(({ name }) => name) ?? [];
    assert.deepEqual(offered.filter((name) => /_(?:clock|monitor)_/.test(name)).sort(), published);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('workbench.action.openChat');
    await ask(calls({ tool: 'mcp_monitor_my_get-system-info' }));
    // Its button is above the part of the answer that the chat shows.
    await untilShown(inWebview('#status-text'), time);
    await page.scroll('.part.editor .interactive-response :text("RESULT")', -2_000);
    await usesMonitor(inWebview, 'chat-monitor');
  });

  it('work beside Try Tool', async () => {
    await tryApp('clock', 'my_get-time');
    await usesClock(inPanelApp, 'panel-clock');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await tryApp('monitor', 'my_get-system-info');
    await usesMonitor(inPanelApp, 'panel-monitor');
  });
});
