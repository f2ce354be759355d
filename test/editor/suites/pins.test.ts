/** Pins and the lock in the editor (C8, S3d), with a real package that `npx` fetches. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { page } from '../../support/editor/bridge.ts';
import {
  configFile,
  folder,
  readConfig,
  toolIds,
  until,
  writeConfig,
} from '../../support/editor/product.ts';

const name = '@modelcontextprotocol/server-memory';
const open = '~2026.7.0';
const runs = '2026.7.4';
const config = (version: string): string =>
  `version: 1\nservers:\n  memory:\n    transport: stdio\n    command: npx\n    args: ['-y', '${name}@${version}'] # the memory\n    timeouts: { connect: 10m }\n`;
const lockFile = (): string => join(folder(), '.minds/mcp.lock');

function codes(): string[] {
  return vscode.languages
    .getDiagnostics(vscode.Uri.file(configFile()))
    .map(({ code }) => String(typeof code === 'object' ? code.value : code));
}

async function show(text: string): Promise<vscode.TextEditor> {
  const editor = await vscode.window.showTextDocument(vscode.Uri.file(configFile()));
  const at = editor.document.positionAt(editor.document.getText().indexOf(text) + 1);
  editor.selection = new vscode.Selection(at, at);
  return editor;
}

/** Waits for a quick fix at a text, because a problem comes before the version is known. */
async function quickFix(text: string, title: string): Promise<vscode.CodeAction> {
  const { document, selection } = await show(text);
  const actions = await until(
    () =>
      vscode.commands.executeCommand<vscode.CodeAction[]>(
        'vscode.executeCodeActionProvider',
        document.uri,
        selection,
      ),
    (all) => all.some((one) => one.title === title),
    `the quick fix ${title}`,
  );
  return actions.find((one) => one.title === title) ?? assert.fail();
}

/** Opens the menu of quick fixes at the cursor for a picture. */
async function picture(called: string, title: string): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
  await vscode.commands.executeCommand('editor.action.quickFix');
  await page.waitFor(`.action-widget >> text=${title}`);
  await page.screenshot(called);
  await page.press('Escape');
}

describe('pins and the lock', function () {
  this.timeout(120_000);

  before(async function () {
    // `npx` has to fetch the server first.
    this.timeout(15 * 60_000);
    await writeConfig(config(open));
    for (let round = 1; toolIds().length === 0 && round < 14; round++)
      await until(toolIds, (ids) => ids.length > 0, 'tools').catch(() => undefined);
    assert.ok(toolIds().includes('mcp_memory_read_graph'), toolIds().join());
  });

  it('Pin to … writes the version that runs, and keeps the comment', async () => {
    await until(codes, (all) => all.includes('version-not-pinned'), 'the hint');
    const title = `Pin to ${runs}`;
    const { edit } = await quickFix(`'${name}`, title);
    await picture('pin', title);
    assert.ok(edit && (await vscode.workspace.applyEdit(edit)));
    await vscode.workspace.saveAll();
    assert.equal(await readConfig(), config(runs));
    await until(codes, (all) => !all.includes('version-not-pinned'), 'no hint');
  });

  it('Update lock writes what the server offers now, with its package', async () => {
    const other = 'A'.repeat(43);
    const tools = { read_graph: { description: other, schema: other } };
    await writeFile(lockFile(), JSON.stringify({ version: 1, servers: { memory: { tools } } }));
    await until(codes, (all) => all.includes('lock-differs'), 'lock-differs');
    const title = "Update lock of 'memory' for your team";
    const { command } = await quickFix('memory:', title);
    await picture('update-lock', title);
    assert.ok(command);
    await vscode.commands.executeCommand(
      command.command,
      ...((command.arguments ?? []) as unknown[]),
    );
    const text = await readFile(lockFile(), 'utf8');
    assert.match(
      text,
      new RegExp(`"integrity": "sha512-.*"name": "${name}", "version": "${runs}"`),
    );
    assert.ok(!text.includes(other));
    await until(codes, (all) => !all.includes('lock-differs'), 'no lock-differs');
  });
});
