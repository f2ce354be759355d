/** *Try Tool* over a reload of the window (E3). */
import assert from 'node:assert/strict';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import { inWebview } from '../../support/editor/webviews.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

describe('the panel of Try Tool', () => {
  let editor: Editor;
  let window: EditorWindow;
  const copy = copyWorkspace('tryTool');

  before(async () => {
    editor = await startEditor({ settings: { 'files.autoSave': 'off' } });
    window = await editor.openWindow(copy.path);
    await window.waitFor(
      ({ lm }) => lm.tools.map(({ name }) => name),
      (names) => names.includes('mcp_shop_order'),
    );
    await window.evaluate(({ commands }) =>
      commands.executeCommand('mcpToolsets.tryTool', 'shop', 'order'),
    );
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  const inPage = (selector: string) => window.page.locator(inWebview(selector)).first();
  const field = (name: string) =>
    inPage(
      `.field:has(label:text-matches("^${name}( required)?$")) >> css=input, textarea, select`,
    );
  const button = (name: string) => inPage(`button:text-is("${name}")`);

  /**
   * The editor keeps the state of panels over its own reload, but not over a navigation of its
   * page.
   */
  const reload = () =>
    window.reload(async () => {
      const loaded = window.page.waitForEvent('load', { timeout: 120_000 });
      await window.evaluate(
        ({ commands }) => void commands.executeCommand('workbench.action.reloadWindow'),
      );
      await loaded;
    });

  it('Try Tool keeps its arguments over a reload, right or wrong, and no result', async () => {
    await field('name').fill('Ann');
    await button('Run').click();
    await inPage('.result pre:has-text("Ann")').first().waitFor();
    await field('count').fill('99');
    await button('Add to tags').click();
    await inPage('.item textarea').fill('red');
    await reload();
    await inPage('.item textarea').waitFor();
    const kept = [field('name'), field('count'), inPage('.item textarea')];
    assert.deepEqual(await Promise.all(kept.map((one) => one.inputValue())), ['Ann', '99', 'red']);
    assert.equal(await inPage('.result').textContent(), '');
  });

  it('Try Tool keeps the document of its arguments over a reload', async () => {
    await button('Edit as JSON').click();
    await window.waitFor(
      ({ window: { activeTextEditor } }) => activeTextEditor?.document.uri.scheme ?? '',
      (scheme) => scheme === 'mcp-toolsets-arguments',
    );
    await window.evaluate(async (api) => {
      const shown = api.window.activeTextEditor;
      const text = '{ "name": "Bo", "size": "small", "count": 1, "gift": false }';
      await shown?.edit((edit) =>
        edit.replace(new api.Range(0, 0, shown.document.lineCount, 0), text),
      );
      await shown?.document.save();
    });
    await reload();
    await inPage('.note:has-text("come from the JSON document")').waitFor();
    await inPage('h1:text-is("order")').waitFor();
    await button('Run').click();
    await inPage('.result pre:has-text("Bo")').first().waitFor();
    await button('Show the Document').click();
    const text = await window.waitFor(
      ({ window: { activeTextEditor } }) => activeTextEditor?.document.getText() ?? '',
      (shown) => shown !== '',
    );
    assert.equal(text, '{ "name": "Bo", "size": "small", "count": 1, "gift": false }');
  });
});
