/**
 * The pages a person reads in the editor: the page of the installed extension, and its
 * documentation.
 */
import assert from 'node:assert/strict';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import { inWebview } from '../../support/editor/webviews.ts';
import type { EditorWindow } from '../../support/editor/window.ts';

describe('the pages of the installed extension', () => {
  let editor: Editor;
  let window: EditorWindow;

  before(async () => {
    editor = await startEditor({ product: 'installed' });
    window = await editor.openWindow('');
    await window.page.setViewportSize({ width: 1280, height: 900 });
  });

  afterEach(() => run('workbench.action.closeAllEditors'));

  after(() => editor.close());

  const run = (id: string, ...given: unknown[]): Promise<void> =>
    window.evaluate(
      async (api, all) => void (await api.commands.executeCommand(all.id, ...all.given)),
      { id, given },
    );

  const heading = async (text: string): Promise<void> =>
    await window.page.locator(inWebview(`h1:text-is("${text}")`)).waitFor();

  it('The extension page shows no broken picture, no dead link and no instruction for developers', async () => {
    await run('workbench.extensions.search', '@installed MCP Toolsets');
    await window.page
      .locator('.extensions-list .monaco-list-row[aria-label^="MCP Toolsets"]')
      .click();
    await heading('MCP Toolsets');
    await window.screenshot('extension-page');
    const body = window.page.locator(inWebview('body'));
    await body.locator('h2:text-is("Documentation")').waitFor();
    assert.deepEqual(await body.locator('a:not([href]):not([id])').allTextContents(), []);
    assert.equal(
      await body.locator('img').count(),
      0,
      'the editor removes the address of each picture that is packed',
    );
    assert.doesNotMatch((await body.textContent()) ?? '', /npm ci|<!--/);
  });

  it('“Open Documentation” lists the pages and opens one as a preview', async () => {
    // The hover of the extension's row would cover the list.
    await window.page.mouse.move(640, 890);
    void run('mcpToolsets.openDocumentation');
    const rows = window.page.locator('.quick-input-list .monaco-list-row');
    await rows.getByText('Problems and their remedies', { exact: true }).click();
    await heading('Problems and their remedies');
    await window.screenshot('documentation');
  });

  it('The page of a problem code has its meaning and its remedy, and leads to the other pages', async () => {
    const page = 'mcp-toolsets-problem:/env-unset.md';
    await window.evaluate(async (api, uri) => {
      await api.commands.executeCommand('vscode.open', api.Uri.parse(uri));
    }, page);
    await heading('env-unset');
    await window.screenshot('problem-page');
    await window.page.locator(inWebview('a:text-is("secret")')).click();
    await window.page.locator(inWebview('#secrets')).waitFor();
    await window.screenshot('config-page');
  });
});
