/** Trying a tool where a setting says what may be called (S4), and the diagnostics that say so (E4): dialogs and toasts. */
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

describe('try tool, with permissions', () => {
  let editor: Editor;
  let window: EditorWindow;
  const copy = copyWorkspace('tryTool');

  before(async () => {
    const permissions = { structured: 'ask', count: 'deny' };
    editor = await startEditor({ settings: { 'mcpToolsets.toolPermissions': permissions } });
    window = await editor.openWindow(copy.path);
    await window.page.getByText('MCP 2/2').waitFor();
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  const inPanel = (): ReturnType<EditorWindow['page']['frameLocator']> =>
    window.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');

  const tryTool = (tool: string): Promise<void> =>
    window.evaluate(async (api, name) => {
      await api.commands.executeCommand('mcpToolsets.tryTool', 'plain', name);
    }, tool);

  it('does not try what is denied', async () => {
    await tryTool('count');
    await tryTool('structured');
    await inPanel().getByRole('heading', { name: 'structured' }).waitFor();
    const tabs = await window.page.locator('.tabs-container .tab').allInnerTexts();
    if (tabs.length !== 1) throw new Error(`tabs: ${tabs.join(', ')}`);
  });

  it('asks nothing of a person who presses Run', async () => {
    await inPanel().getByRole('button', { name: 'Run' }).click();
    await inPanel()
      .getByRole('status')
      .getByText(/^Done after/)
      .waitFor();
  });

  it('tells where diagnostics went', async () => {
    await window.evaluate((api) => void api.commands.executeCommand('mcpToolsets.copyDiagnostics'));
    await window.page.getByText('Diagnostics were copied to the clipboard').first().waitFor();
  });
});
