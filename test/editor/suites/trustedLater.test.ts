/** A workspace that a person trusts while its window is open. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { nextEvent } from '../../../src/core/base/events.ts';
import { page } from '../../support/editor/bridge.ts';

const opens = async (): Promise<void> => {
  await vscode.commands.executeCommand('mcpToolsets.openWalkthrough');
  await page.waitFor('.gettingStartedSlideDetails >> text=Get Started with MCP Toolsets');
};

describe('a workspace that is trusted later', () => {
  before(async () => {
    assert.equal(vscode.workspace.isTrusted, false);
    await vscode.extensions.getExtension('minds.mcp-toolsets')?.activate();
  });

  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('Get Started opens the walkthrough before and after trust was given, without a reload', async () => {
    await opens();
    // The editor shows its own welcome in the same tab.
    await vscode.commands.executeCommand('workbench.action.openWalkthrough');
    await page.waitFor('.gettingStartedSlideCategories');
    const trusted = nextEvent(vscode.workspace.onDidGrantWorkspaceTrust, () => true);
    await vscode.commands.executeCommand('workbench.trust.manage');
    await page.click('.workspace-trust-editor .monaco-button >> text=/^Trust$/');
    await trusted;
    await opens();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await opens();
    await page.screenshot('after-trust');
  });
});
