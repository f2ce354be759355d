/** “Add Server” and “Import Servers” (C6) with the keyboard. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { page, repoRoot } from '../../support/editor/bridge.ts';
import {
  configFile,
  folder,
  readConfig,
  removeConfig,
  until,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

const input = '.quick-input-widget';
const script = join(repoRoot, 'test/fixtures/servers/plain.mjs');

const untilStep = (title: RegExp): Promise<string[]> =>
  until(
    () => page.texts(`${input} .quick-input-title`),
    (texts) => texts.some((text) => title.test(text)),
    `the step ${String(title)}`,
  );

/** From the second step to the last one. */
async function typeCommand(): Promise<void> {
  await page.type(`node ${script} --tools add`);
  await page.press('Enter');
  await untilStep(/\(3\/4\)/);
  await page.press('Enter');
  await untilStep(/\(4\/4\)/);
}

function cursorLine(): string {
  const editor = vscode.window.activeTextEditor;
  return editor?.document.uri.fsPath === configFile()
    ? editor.document.lineAt(editor.selection.active.line).text
    : '';
}

describe('import and add', () => {
  it('An empty view offers “Add Server” and “Import Servers”', async () => {
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    await page.waitFor('.part.sidebar a:text-is("add a server")');
    await page.screenshot('welcome');
  });

  it('“Add Server” asks for a command, checks it, goes back, and writes the entry into a new file', async () => {
    await page.click('.part.sidebar a:text-is("add a server")');
    await untilStep(/Add MCP Server \(1\/4\)/);
    await page.screenshot('add-kind');
    await page.press('Enter');
    await untilStep(/\(2\/4\)/);
    await page.type('node "unfinished');
    await page.waitFor(`${input} :text("A quote is not closed.")`);
    await page.screenshot('add-fault');
    await page.click(`${input} .codicon-quick-input-back`);
    await untilStep(/\(1\/4\)/);
    await page.press('Enter');
    await untilStep(/\(2\/4\)/);
    await page.press('Control+A');
    await typeCommand();
    await page.screenshot('add-name');
    await page.press('Enter');
    await until(cursorLine, (line) => line === '  plain:', 'the cursor at the new entry');
    await untilTools(['mcp_plain_add']);
    assert.match(
      await readConfig(),
      /^version: 1\n\nservers:\n {2}plain:\n {4}transport: stdio\n {4}command: node\n/,
    );
    await page.screenshot('added');
  });

  it('“Import Servers” shows its changes and notes before it writes', async () => {
    const before = await readConfig();
    void vscode.commands.executeCommand('mcpToolsets.import');
    await page.waitFor(`${input} .quick-input-list-row:has-text("Cursor")`);
    await page.screenshot('import-files');
    await page.press('Enter');
    await page.waitFor(`${input} .quick-input-list-row:has-text("For everyone")`);
    await page.press('Enter');
    await until(
      async () => {
        await vscode.commands.executeCommand('notifications.showList');
        return page.texts('.notifications-center .notification-list-item');
      },
      (texts) => texts.some((text) => text.includes('Write these 2 servers to .minds/mcp.yaml?')),
      'the question',
    );
    await page.waitFor('.monaco-diff-editor');
    await page.waitFor('.view-lines :text("GITHUB_TOKEN")');
    await page.waitFor('.view-line:has-text("To do before they start")');
    await page.screenshot('import-preview');
    assert.equal(await readConfig(), before);
    await page.click('.editor-actions .action-label[aria-label="Import What Is Shown"] >> nth=0');
    await until(
      async () => {
        await vscode.commands.executeCommand('notifications.showList');
        return page.texts('.notifications-center .notification-list-item');
      },
      (texts) => texts.some((text) => text.includes('Keep what was written out as GITHUB_TOKEN')),
      'the question about the secret',
    );
    await page.click('.notifications-center .monaco-button:text-is("Keep It Now")');
    await untilTools(['mcp_plain_add', 'mcp_plain-2_echo']);
    await vscode.commands.executeCommand('notifications.clearAll');
    const text = await readConfig();
    assert.ok(text.startsWith(before.trimEnd()));
    assert.match(text, /GITHUB_TOKEN: \{ secret: GITHUB_TOKEN \}/);
    assert.doesNotMatch(text, /ghp_/);
    assert.match(text, /figma:\n {4}enabled: false\n/);
    await until(cursorLine, (line) => line === '  plain-2:', 'the cursor at the new entry');
    await page.screenshot('imported');
  });

  it('An import can be undone', async () => {
    await vscode.commands.executeCommand('undo');
    await vscode.commands.executeCommand('workbench.action.files.save');
    await untilTools(['mcp_plain_add']);
    assert.doesNotMatch(await readConfig(), /figma/);
  });

  it('An import from a file of the editor offers to remove the servers there, with a preview and undo', async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const before = await readConfig();
    const file = join(folder(), '.vscode', 'mcp.json');
    const text = `{\n  // Ours\n  "servers": {\n    "mine": { "command": "node", "args": ["${script}", "--tools", "echo"] }\n  }\n}\n`;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    void vscode.commands.executeCommand('mcpToolsets.import', file);
    await page.waitFor(`${input} .quick-input-list-row:has-text("For everyone")`);
    await page.press('Enter');
    await page.waitFor('.view-line:has-text("To do after the import")');
    await page.click('.editor-actions .action-label[aria-label="Import What Is Shown"] >> nth=0');
    await until(
      async () => {
        await vscode.commands.executeCommand('notifications.showList');
        return page.texts('.notifications-center .notification-list-item');
      },
      (texts) => texts.some((text) => text.includes('Remove “mine” from .vscode/mcp.json?')),
      'the question about the removal',
    );
    await page.screenshot('import-removal');
    assert.equal(await readFile(file, 'utf8'), text);
    await page.click('.editor-actions .action-label[aria-label="Write What Is Shown"] >> nth=0');
    await untilTools(['mcp_plain_add', 'mcp_mine_echo']);
    assert.equal(await readFile(file, 'utf8'), '{\n  // Ours\n  "servers": {\n  }\n}\n');
    await vscode.commands.executeCommand('notifications.clearAll');
    await vscode.window.showTextDocument(vscode.Uri.file(file));
    await vscode.commands.executeCommand('undo');
    await vscode.commands.executeCommand('workbench.action.files.save');
    assert.equal(await readFile(file, 'utf8'), text);
    await rm(file);
    await writeConfig(before);
    await untilTools(['mcp_plain_add']);
  });

  it('A preview that is shown again beside another import has its text', async () => {
    const before = await readConfig();
    const other = join(folder(), 'one', '.mcp.json');
    await mkdir(dirname(other));
    await writeFile(other, '{ "mcpServers": { "one": { "command": "no-such-program" } } }');
    const untilAsked = (what: string): Promise<string[]> =>
      until(
        async () => {
          await vscode.commands.executeCommand('notifications.showList');
          return page.texts('.notifications-center .notification-list-item');
        },
        (texts) => texts.some((text) => text.includes(`Write ${what} to .minds/mcp.yaml?`)),
        `the question about ${what}`,
      );
    for (const [file, what] of [
      [join(folder(), '.cursor', 'mcp.json'), 'these 2 servers'],
      [other, 'this server'],
    ] as const) {
      void vscode.commands.executeCommand('mcpToolsets.import', file);
      await page.waitFor(`${input} .quick-input-list-row:has-text("For everyone")`);
      await page.press('Enter');
      await untilAsked(what);
    }
    const document = await vscode.workspace.openTextDocument(configFile());
    await writeConfig(`# another line\n${before}`);
    await until(
      () => document.getText(),
      (text) => text.startsWith('# another line'),
      'the edit in the editor',
    );
    await page.click(
      '.notifications-center .notification-list-item:has-text("these 2") .monaco-button:text-is("Import")',
    );
    await untilAsked('these 2 servers');
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const [shown] = tabs.flatMap(({ input }) =>
      input instanceof vscode.TabInputTextDiff ? [input.modified] : [],
    );
    assert.match(
      (await vscode.workspace.openTextDocument(shown ?? assert.fail())).getText(),
      /figma:/,
    );
    await vscode.commands.executeCommand('notifications.clearAll');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await writeConfig(before);
    await rm(dirname(other), { recursive: true });
    await untilTools(['mcp_plain_add']);
  });

  it("A server that is added to a deleted file appears in the new file, without the editor's old text", async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await removeConfig();
    await untilTools([]);
    void vscode.commands.executeCommand('mcpToolsets.addServer');
    await untilStep(/\(1\/4\)/);
    await page.press('Enter');
    await untilStep(/\(2\/4\)/);
    await typeCommand();
    await page.press('Control+A');
    await page.type('again');
    await page.press('Enter');
    await until(cursorLine, (line) => line === '  again:', 'the cursor at the new entry');
  });
});
