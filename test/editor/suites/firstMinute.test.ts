/** A new user in an empty folder: the offers, and the effect of one click. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { page } from '../../support/editor/bridge.ts';
import {
  configFile,
  readConfig,
  removeConfig,
  servers,
  toolIds,
  until,
} from '../../support/editor/product.ts';

/**
 * True if the palette lists a command. It searches the title, because the palette shows only as
 * many rows as fit.
 */
async function offers(title: string): Promise<boolean> {
  await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
  await vscode.commands.executeCommand('workbench.action.quickOpen', `>MCP Toolsets: ${title}`);
  await page.waitFor('.quick-input-list .monaco-list-row');
  const listed = await page.texts('.quick-input-list .monaco-list-row');
  await page.press('Escape');
  return listed.some((text) => text.replace(/\s+/g, ' ').includes(`MCP Toolsets: ${title}`));
}

describe('first minute', () => {
  it('An empty folder shows a sidebar with first steps', async () => {
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    await page.waitFor('.part.sidebar .monaco-button >> text=Create Config File');
    await page.waitFor('.part.sidebar a:text-is("Get started")');
    await page.screenshot('empty');
  });

  it('The palette hides commands without a use', async () => {
    assert.ok(await offers('Create Config File'));
    for (const title of ['Restart Server', 'Try Tool', 'Approve Server', 'Release Instance']) {
      assert.ok(!(await offers(title)), title);
    }
  });

  it('There is a walkthrough', async () => {
    // The pictures are shown only if there is room.
    await vscode.commands.executeCommand('workbench.action.closeAuxiliaryBar');
    await page.click('.part.sidebar a:text-is("Get started")');
    await page.waitFor('.getting-started-step >> text=Create the config file');
    await page.screenshot('walkthrough');
    const steps = await page.texts('.getting-started-step .step-title');
    assert.deepEqual(
      steps.map((step) => step.trim()),
      [
        'Create the config file',
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

  it('offers commands in the walkthrough that work without a file', async () => {
    const press = async (step: string, button: string): Promise<void> => {
      await vscode.commands.executeCommand('notifications.clearAll');
      await vscode.commands.executeCommand('mcpToolsets.openWalkthrough');
      await page.click(`.getting-started-step >> text=${step}`);
      await page.click(`.getting-started-step .monaco-button:has-text("${button}")`);
    };
    const untilMessage = async (text: string): Promise<void> => {
      await until(
        async () => {
          await vscode.commands.executeCommand('notifications.showList');
          return page.texts('.notifications-center .notification-list-item');
        },
        (texts) => texts.some((one) => one.includes(text)),
        text,
      );
      await vscode.commands.executeCommand('notifications.hideList');
    };
    for (const [step, button] of [
      ['Let the servers start', 'Review Servers'],
      ['Try a tool', 'Try Tool'],
    ] as const) {
      await press(step, button);
      await untilMessage('This workspace has no .minds/mcp.yaml');
    }
    await press('See what agents see', 'Show Sidebar');
    await page.waitFor('.part.sidebar .monaco-button >> text=Create Config File');
    await press('Write with completion', 'Open Config File');
    await until(
      () => vscode.window.activeTextEditor?.document.uri.fsPath,
      (path) => path === configFile(),
      'the file in an editor',
    );
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('notifications.clearAll');
    await removeConfig();
    await page.waitFor('.part.sidebar .monaco-button >> text=Create Config File');
  });

  it('writes a commented example at one click, valid as it is, and starts nothing unasked', async () => {
    await page.click('.part.sidebar .monaco-button >> text=Create Config File');
    await until(
      () => vscode.window.activeTextEditor?.document.uri.fsPath,
      (path) => path === configFile(),
      'the file in an editor',
    );
    assert.match(await readConfig(), /^# MCP servers of this folder/);
    await page.waitFor(
      '.part.sidebar .monaco-list-row[aria-label^="files, server, waits for approval"]',
    );
    await page.waitFor('.statusbar-item >> text=MCP 0/1, 1 to approve');
    const errors = vscode.languages
      .getDiagnostics(vscode.Uri.file(configFile()))
      .filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error);
    assert.deepEqual(errors, []);
    assert.deepEqual(await servers(), []);
    await page.screenshot('created');
  });

  it('The palette then offers the useful commands', async () => {
    assert.ok(await offers('Approve Server'));
    assert.ok(!(await offers('Release Instance')));
  });

  it('leads from the empty folder to the first tools in three clicks', async function () {
    const seen: string[] = await page.texts('.part.sidebar .welcome-view-content');
    let clicks = 1;
    const answer = async (button: string): Promise<void> => {
      const selector = `.notifications-center .notification-list-item .monaco-button:text-is("${button}")`;
      const shown = async (): Promise<string[]> => {
        // A list without messages does not open.
        await vscode.commands.executeCommand('notifications.showList');
        return page.texts(selector);
      };
      await until(shown, ({ length }) => length > 0, `the button ${button}`);
      seen.push(...(await page.texts('.notifications-center .notification-list-item-message')));
      await page.click(selector);
      clicks += 1;
    };
    await answer('Review…');
    await answer('Approve');
    await until(toolIds, (ids) => ids.length > 0, 'the first tools');
    const words = seen.join(' ').split(/\s+/).filter(Boolean).length;
    if (this.test) this.test.title += `, with ${words} words outside the review`;
    assert.equal(clicks, 3);
    await page.screenshot('tools');
  });
});
