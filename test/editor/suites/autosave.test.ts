/** Auto save: an unfinished launch does not count while a person types (R1a). */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import {
  configFile,
  entry,
  folder,
  readConfig,
  until,
  untilProblems,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';
import { repoRoot } from '../../support/editor/bridge.ts';

describe('auto save', () => {
  let editor: vscode.TextEditor;

  before(async () => {
    const edited = entry('raw.mjs', ['--tools', 'echo']);
    await writeConfig(
      `version: 1\nservers:\n  typed: ${edited}\n  other: ${entry('raw.mjs', ['--tools', 'env'])}\n`,
    );
    await untilTools(['mcp_other_env', 'mcp_typed_echo']);
    editor = await vscode.window.showTextDocument(vscode.Uri.file(configFile()));
  });

  /** Types behind a text and resolves when the editor has saved it. */
  async function type(behind: string, typed: string): Promise<void> {
    const { document } = editor;
    const at = document.positionAt(document.getText().indexOf(behind) + behind.length);
    editor.selection = new vscode.Selection(at, at);
    await editor.edit((edit) => edit.insert(at, typed));
    if (!document.isDirty) return;
    await new Promise<void>((resolve) => {
      const saved = vscode.workspace.onDidSaveTextDocument((one) => {
        if (one !== document) return;
        saved.dispose();
        resolve();
      });
    });
  }

  it('Auto save holds a launch while the caret is in its entry, until the caret leaves', async () => {
    await type('"echo', ',pid');
    assert.match(await readConfig(), /echo,pid/);
    // If this later change counts, the launch would have counted too.
    const args = [join(repoRoot, 'test/fixtures/servers/raw.mjs'), '--tools', 'crash'];
    await writeFile(join(folder(), '.mcprc'), JSON.stringify({ late: { command: 'node', args } }));
    await untilTools(['mcp_late_crash', 'mcp_other_env', 'mcp_typed_echo']);
    const end = editor.document.positionAt(editor.document.getText().length);
    editor.selection = new vscode.Selection(end, end);
    await untilTools(['mcp_late_crash', 'mcp_other_env', 'mcp_typed_echo', 'mcp_typed_pid']);
  });

  async function lenses(): Promise<(vscode.Command | undefined)[]> {
    const all = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      editor.document.uri,
      10,
    );
    return all.map(({ command }) => command);
  }
  const untilWaiting = (): Promise<(vscode.Command | undefined)[]> =>
    until(lenses, ([state]) => state?.title === 'Waits while you type…', 'a lens that waits');

  it('A mistake is a problem at once while the caret is in its entry, and so is its repair', async () => {
    const mistake = ', envFile: 7';
    await type('command: node', mistake);
    await untilProblems(['wrong-type 7']);
    const { document } = editor;
    const at = document.getText().indexOf(mistake);
    const place = new vscode.Range(
      document.positionAt(at),
      document.positionAt(at + mistake.length),
    );
    await editor.edit((edit) => edit.replace(place, ', env: { A: b }'));
    await untilProblems([]);
    await untilWaiting();
  });

  it('The lens of a launch that waits says so, and applies it', async () => {
    await type('echo,pid', ',count');
    const [, apply] = await untilWaiting();
    assert.equal(apply?.title, 'Apply Now');
    await vscode.commands.executeCommand(apply.command, ...(apply.arguments ?? []));
    await untilTools([
      'mcp_late_crash',
      'mcp_other_env',
      'mcp_typed_count',
      'mcp_typed_echo',
      'mcp_typed_pid',
    ]);
    await until(lenses, ([state]) => state?.title.includes('Running') === true, 'it runs');
  });

  it('Auto save holds nothing that a person saves by hand', async () => {
    await type('echo,pid', ',add');
    await vscode.commands.executeCommand('workbench.action.files.save');
    await untilTools([
      'mcp_late_crash',
      'mcp_other_env',
      'mcp_typed_add',
      'mcp_typed_count',
      'mcp_typed_echo',
      'mcp_typed_pid',
    ]);
  });
});
