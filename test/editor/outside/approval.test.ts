/** Approval (S1) with dialogs and a reload. A window with tests in it shows no dialogs. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import { waitUntil, type ProcessEntry } from '../../support/editor/processes.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

/**
 * The limit for a server to start in a new window and for the old server to end, on a busy machine,
 * in milliseconds.
 */
const startLimit = 60_000;

describe('approval of a window', () => {
  let editor: Editor;
  let window: EditorWindow;
  const copy = copyWorkspace('approval');

  before(async () => {
    editor = await startEditor({ settings: { 'mcpToolsets.approval': 'ask' } });
    window = await editor.openWindow(copy.path);
    await window.page.getByText('2 to approve').waitFor();
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  const servers = (): ProcessEntry[] =>
    editor.processes().filter(({ command }) => command.includes('fixtures/servers'));

  const untilTools = (expected: readonly string[]): Promise<unknown> =>
    window.waitFor(
      ({ lm }) =>
        lm.tools.map(({ name }) => name).filter((name) => /^mcp_(alpha|beta)_/.test(name)),
      (names) => JSON.stringify(names.sort()) === JSON.stringify(expected),
    );

  const approve = (server: string): Promise<void> =>
    window.evaluate(
      (api, id) => void api.commands.executeCommand('mcpToolsets.approve', id),
      server,
    );

  it('A command that names a server shows the launch before it approves it', async () => {
    const dialog = window.page.locator('.monaco-dialog-box');
    await approve('alpha');
    await dialog.getByText('Let the MCP server “alpha” of .minds/mcp.yaml start?').waitFor();
    const text = await dialog.innerText();
    assert.match(text, /command: node\n/);
    assert.match(text, /argument: echo,pid\n/);
    assert.doesNotMatch(text, /not-for-everyone/);
    await window.page.screenshot({ path: `${editor.options.outputDir}/approval-dialog.png` });
    await window.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    assert.deepEqual(servers(), []);

    await approve('alpha');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await untilTools(['mcp_alpha_echo', 'mcp_alpha_pid']);
    assert.equal(servers().length, 1);
  });

  it('A reload of the window remembers approvals, and servers without one still wait', async () => {
    const file = join(editor.home, '.minds', 'approvals.json');
    assert.ok(await waitUntil(() => existsSync(file), startLimit), file);
    const [old] = servers();
    await window.reload();
    await untilTools(['mcp_alpha_echo', 'mcp_alpha_pid']);
    await window.page.getByText('1 to approve').waitFor();
    // The tools are there before the new server, and the old one may take a moment to end.
    const isOneNew = (): boolean =>
      servers().length === 1 && servers().every(({ pid }) => pid !== old?.pid);
    assert.ok(await waitUntil(isOneNew, startLimit), JSON.stringify(servers()));
  });
});
