/** Facts about the editor's ids (G3a). No tool is lost silently. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { page } from '../../support/editor/bridge.ts';
import {
  configFile,
  folder,
  invoke,
  readConfig,
  until,
  untilProblems,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

const shown = [
  'mcp_playwright_browser_click',
  'mcp_thirteen-char_one',
  'mcp_averyveryvery_two',
  'mcp_with-undersco_three',
  'mcp_a-b_c',
  'mcp_a_b_c',
  'mcp_a_y',
  'mcp_upper_four',
  'mcp_upper_Mixed',
  'mcp_limits_z',
  `mcp_limits_${'x'.repeat(53)}`,
  'mcp_limits_zafter',
];

/** A long id, and more instructions of all toolsets together than Claude Code keeps. */
const cut = ['editor-id-too-long limits', 'text-cut limits'];
const cutAndHidden = [...cut, 'editor-toolset-hidden taken'];

describe('names in the editor (G3a)', () => {
  it('Ids are mcp_<short name>_<tool>, and none is lost', async () => {
    await untilTools(shown);
  });

  it('Tools of a toolset are grouped under its id', async () => {
    const names = vscode.lm.tools.map(
      (tool) => (tool as { fullReferenceName?: string }).fullReferenceName,
    );
    // Proposed API, present at run time in some builds only.
    if (names.some((name) => name !== undefined))
      assert.ok(names.includes('playwright/browser_click'), String(names));
    assert.equal(await invoke('mcp_averyveryvery_two', { text: 'x' }).then(() => 'ran'), 'ran');
  });

  it('A name is a problem if its id is too long, or if the user’s own mcp.json has the label', async () => {
    const all = await untilProblems(cutAndHidden);
    const hidden = all.find(({ code }) => code === 'editor-toolset-hidden');
    assert.match(hidden?.message ?? '', /mcp\.json/);
  });

  it('A server hidden by mcp.json has a warning in its row', async () => {
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    await page.waitFor(
      '.part.sidebar [role="treeitem"][aria-label*="taken, server, running, warning, "]',
    );
    await page.waitFor('.part.sidebar [role="treeitem"][aria-label*="0 tools in the editor"]');
    await page.screenshot('hidden');
  });

  it('A hidden name returns when a quick fix removes the other server from mcp.json', async () => {
    const file = join(folder(), '.vscode', 'mcp.json');
    const document = await vscode.workspace.openTextDocument(configFile());
    const at = vscode.languages
      .getDiagnostics(document.uri)
      .find(({ code }) => typeof code === 'object' && code.value === 'editor-toolset-hidden');
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      document.uri,
      at?.range,
    );
    const fix = actions.find(({ title }) => title === 'Remove "taken" from .vscode/mcp.json…');
    assert.ok(fix?.command, actions.map(({ title }) => title).join(' | '));
    void vscode.commands.executeCommand(fix.command.command, ...(fix.command.arguments ?? []));
    await until(
      async () => {
        await vscode.commands.executeCommand('notifications.showList');
        return page.texts('.notifications-center .notification-list-item');
      },
      (texts) => texts.some((text) => text.includes('Remove “Taken” from .vscode/mcp.json?')),
      'the question',
    );
    await page.screenshot('removal');
    await page.click('.notifications-center .monaco-button:text-is("Remove")');
    await untilTools([...shown, 'mcp_taken_five']);
    assert.equal(await readFile(file, 'utf8'), '{ "servers": { } }\n');
    await untilProblems(cut);
    await vscode.commands.executeCommand('undo');
    await vscode.commands.executeCommand('workbench.action.files.save');
    await untilProblems(cutAndHidden);
  });

  it('A colliding name returns when the collision is resolved', async () => {
    await writeConfig((await readConfig()).replace('  taken:', '  free:'));
    await untilTools([...shown, 'mcp_free_five']);
    await untilProblems(cut);
  });

  it('Names follow a rename of the toolset', async () => {
    await writeConfig((await readConfig()).replace('  free:', '  free2:'));
    await until(
      () => vscode.lm.tools.map((tool) => tool.name),
      (names) => names.includes('mcp_free2_five') && !names.includes('mcp_free_five'),
      'the new name',
    );
  });
});
