/** What of approval (S1) needs more than a window: dialogs, which a window with tests in it does not show, and a reload. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import { waitUntil, type ProcessEntry } from '../../support/editor/processes.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

/** For a server to be up in a new window, and for that of the old one to be gone, on a busy machine; in milliseconds. */
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
      ({ lm }) => lm.tools.map(({ name }) => name).filter((name) => /^mcp_(alpha|beta)_/.test(name)),
      (names) => JSON.stringify(names.sort()) === JSON.stringify(expected),
    );

  const approve = (server: string): Promise<void> =>
    window.evaluate((api, id) => void api.commands.executeCommand('mcpToolsets.approve', id), server);

  it('shows what would run before a command that names a server approves it', async () => {
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

  it('is remembered when the window is reloaded, as is what was not approved', async () => {
    const file = join(editor.home, '.minds', 'approvals.json');
    assert.ok(await waitUntil(() => existsSync(file), startLimit), file);
    const [old] = servers();
    await window.reload();
    await untilTools(['mcp_alpha_echo', 'mcp_alpha_pid']);
    await window.page.getByText('1 to approve').waitFor();
    // The tools are there before the new server is, and the old one may take a moment to end.
    const isOneNew = (): boolean => servers().length === 1 && servers().every(({ pid }) => pid !== old?.pid);
    assert.ok(await waitUntil(isOneNew, startLimit), JSON.stringify(servers()));
  });
});
