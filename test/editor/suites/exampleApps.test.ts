/**
 * The apps of example servers from the MCP Apps project (G8), written with the SDK of apps. Tools
 * have other names and a whitelist. A button in the frames works in the editor's chat and beside
 * *Try Tool*.
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
/** The time of the last answer. */
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

  /** The button calls the server by the tool's original name. */
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

  /** It polls with an app-only tool until its button is pressed, and again after the next press. */
  async function usesMonitor(find: Find, picture: string): Promise<void> {
    assert.equal(
      await untilShown(find('#info-platform'), /\w/),
      `${process.platform} ${process.arch}`,
    );
    await untilShown(find('#status-text'), time);
    await page.screenshot(picture);
    await press(find('#poll-toggle-btn'), find('#poll-toggle-btn'), /^Start$/);
    await press(find('#poll-toggle-btn'), find('#status-text'), time);
  }

  it('Example apps work in the editor’s chat', async () => {
    await vscode.commands.executeCommand('workbench.action.openChat');
    await ask(calls({ tool: 'mcp_clock_my_get-time' }));
    await usesClock(inWebview, 'chat-clock');
    const offered = (await modelRequests()).at(-1)?.tools.map(({ name }) => name) ?? [];
    assert.deepEqual(offered.filter((name) => /_(?:clock|monitor)_/.test(name)).sort(), published);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('workbench.action.openChat');
    await ask(calls({ tool: 'mcp_monitor_my_get-system-info' }));
    // Its button is above the visible part of the answer.
    await untilShown(inWebview('#status-text'), time);
    await page.scroll('.part.editor .interactive-response :text("RESULT")', -2_000);
    await usesMonitor(inWebview, 'chat-monitor');
  });

  it('Example apps work beside Try Tool', async () => {
    await tryApp('clock', 'my_get-time');
    await usesClock(inPanelApp, 'panel-clock');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await tryApp('monitor', 'my_get-system-info');
    await usesMonitor(inPanelApp, 'panel-monitor');
  });
});
