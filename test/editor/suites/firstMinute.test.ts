/** A person who has never seen the product, in an empty folder: what is offered, and what one click gives (E5, C1). */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { page } from '../../support/editor/bridge.ts';
import { configFile, readConfig, servers, until } from '../../support/editor/product.ts';

/** What the palette lists for the product. */
async function palette(): Promise<string[]> {
  await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
  await vscode.commands.executeCommand('workbench.action.quickOpen', '>MCP Toolsets: ');
  await page.waitFor('.quick-input-list .monaco-list-row >> text=MCP Toolsets: Show Log');
  // More rows than are in view; those that matter begin with other letters.
  const listed = await page.texts('.quick-input-list .monaco-list-row');
  await page.press('Escape');
  return listed.map((text) => text.replace(/\s+/g, ' ').trim());
}

const offers = (listed: readonly string[], title: string): boolean => listed.some((text) => text.includes(title));

describe('first minute', () => {
  it('begins with a sidebar that says how', async () => {
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    await page.waitFor('.part.sidebar .monaco-button >> text=Create Config File');
    await page.waitFor('.part.sidebar .monaco-button >> text=First Minute');
    await page.screenshot('empty');
  });

  it('hides from the palette what does not apply', async () => {
    const listed = await palette();
    assert.ok(offers(listed, 'Create Config File'), listed.join(' | '));
    for (const title of ['Restart Server', 'Try Tool', 'Approve Server', 'Release Instance']) {
      assert.ok(!offers(listed, title), title);
    }
  });

  it('has a walkthrough', async () => {
    // The pictures are there where there is room for them.
    await vscode.commands.executeCommand('workbench.action.closeAuxiliaryBar');
    await page.click('.part.sidebar .monaco-button >> text=First Minute');
    await page.waitFor('.getting-started-step >> text=Name a server');
    await page.screenshot('walkthrough');
    const steps = await page.texts('.getting-started-step .step-title');
    assert.deepEqual(
      steps.map((step) => step.trim()),
      [
        'Name a server',
        'Write with completion',
        'Let the servers start',
        'See what agents see',
        'Try a tool',
        'Ask an agent',
      ],
    );
    await page.click('.getting-started-step >> text=See what agents see');
    await page.waitFor('.getting-started-media img');
    await page.screenshot('walkthrough-picture');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('writes a commented example at one click, valid as it is, and starts nothing unasked', async () => {
    await page.click('.part.sidebar .monaco-button >> text=Create Config File');
    await until(
      () => vscode.window.activeTextEditor?.document.uri.fsPath,
      (path) => path === configFile(),
      'the file in an editor',
    );
    assert.match(await readConfig(), /^# MCP servers of this folder/);
    await page.waitFor('.part.sidebar .monaco-list-row[aria-label^="files, server, waits for approval"]');
    await page.waitFor('.statusbar-item >> text=MCP 0/1, 1 to approve');
    const errors = vscode.languages
      .getDiagnostics(vscode.Uri.file(configFile()))
      .filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error);
    assert.deepEqual(errors, []);
    assert.deepEqual(await servers(), []);
    await page.screenshot('created');
  });

  it('offers then what applies', async () => {
    const listed = await palette();
    assert.ok(offers(listed, 'Approve Server'), listed.join(' | '));
    assert.ok(!offers(listed, 'Release Instance'));
  });
});
