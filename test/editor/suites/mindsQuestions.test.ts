/** Questions of `@minds` to a person in the real chat before it calls a tool (S4). */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { calls, enableAgentMode, newChat, stop } from '../../support/editor/agentMode.ts';
import { page } from '../../support/editor/bridge.ts';
import { askMinds, shown } from '../../support/editor/minds.ts';
import { until, untilTools } from '../../support/editor/product.ts';

describe('questions of @minds', () => {
  before(async () => {
    await untilTools([
      ...['count', 'pid', 'slow', 'cancelled'].map((name) => `mcp_counter_${name}`),
      ...['echo', 'content', 'chart', 'structured', 'fail'].map((name) => `mcp_shop_my_${name}`),
    ]);
    await enableAgentMode();
  });

  beforeEach(newChat);

  it('@minds opens a document with all arguments of a long call, and closes it with the turn (S4b)', async () => {
    const pid = {
      tool: 'counter_pid',
      input: { before: 'x'.repeat(2_000), middle: 'evil.example', after: 'x'.repeat(2_000) },
    };
    const opened = (): string => vscode.window.activeTextEditor?.document.getText() ?? '';
    const untilShown = (isShown: boolean): Promise<unknown> =>
      until(
        () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label)),
        (labels) => labels.some((label) => label.startsWith('MCP call')) === isShown,
        `a call that is ${isShown ? '' : 'not '}shown`,
      );
    const asked = askMinds(calls(pid));
    await until(opened, (text) => text.includes('"middle": "evil.example"'), 'the document');
    await page.screenshot('long-question');
    assert.match(await shown(), /The open document shows all of the input/);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    await page.click('.interactive-response .monaco-button:has-text("Show Input")');
    await untilShown(true);
    await page.click('.editor-actions .action-label[aria-label="Allow the Shown Call"]');
    assert.match((await asked).text, /RESULT counter_pid: \d+/);
    await untilShown(false);

    await newChat();
    const stopped = askMinds(calls(pid));
    await untilShown(true);
    await stop();
    await stopped;
    await untilShown(false);
  });

  it('@minds asks before a call if necessary, and obeys the answer (S4)', async () => {
    const asked = askMinds(calls({ tool: 'counter_pid' }));
    await page.waitFor('.interactive-response .monaco-button:has-text("Do Not Allow")');
    await page.screenshot('question');
    await page.click('.interactive-response .monaco-button:has-text("Do Not Allow")');
    assert.match((await asked).text, /RESULT counter_pid: Error: the person did not allow/);

    await newChat();
    const again = askMinds(calls({ tool: 'counter_pid' }));
    await page.click('.interactive-response .monaco-button:has-text("Allow in This Conversation")');
    assert.match((await again).text, /RESULT counter_pid: \d+/);
    assert.match(
      (await askMinds(calls({ tool: 'counter_pid' }))).text,
      /RESULT counter_pid: \d+/,
      'not asked again',
    );

    const settings = vscode.workspace.getConfiguration('mcpToolsets');
    const before = settings.get<object>('toolPermissions');
    const set = (value: unknown): Thenable<void> =>
      settings.update('toolPermissions', value, vscode.ConfigurationTarget.Global);
    await set({ ...before, another_tool: 'ask' });
    const afterwards = askMinds(calls({ tool: 'counter_pid' }));
    const refusals = '.interactive-response .monaco-button:has-text("Do Not Allow")';
    await until(
      () => page.texts(refusals),
      ({ length }) => length === 2,
      'another question',
    );
    await page.click(`${refusals} >> nth=-1`);
    assert.match(
      (await afterwards).text,
      /RESULT counter_pid: Error: the person did not allow/,
      'the setting changed',
    );
    await set(before);
  });
});
