/**
 * An editor in a language whose texts are half as long again. No text is cut in the sidebar, the
 * review and *Try Tool* if they are 250 pixels wide.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { longLanguage } from '../../support/editor/extensions.ts';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import { repoRoot } from '../../support/npm.mjs';
import { inWebview } from '../../support/editor/webviews.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

const servers = join(repoRoot, 'test/fixtures/servers');
const config = `version: 1
servers:
  shop:
    transport: stdio
    command: node
    args: ['${servers}/forms.mjs']
  plain:
    transport: stdio
    command: node
    args: ['${servers}/raw.mjs', --tools, 'count,fail,slow']
    tools: { blacklist: [fail] }
  missing:
    transport: stdio
    command: no-such-program
`;

/** The width in pixels of what is looked at. */
const narrow = 250;

/**
 * Lists texts that are beyond their box or the page. It runs in the page.
 */
const cutTexts = `(root) => {
  const cut = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const own = text.parentElement;
    if (!own.checkVisibility() || text.data.trim() === '') continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const { right } = range.getBoundingClientRect();
    for (let box = own; box; box = box.parentElement) {
      const { overflowX } = getComputedStyle(box);
      if (overflowX === 'auto' || overflowX === 'scroll') break;
      const ends = box === document.documentElement || overflowX !== 'visible';
      if (!ends || right <= box.getBoundingClientRect().right + 1) continue;
      cut.push(own.tagName + '.' + own.className + ': ' + text.data.trim());
      break;
    }
  }
  return cut;
}`;

const cutIn = (root: Locator): Promise<string[]> =>
  root.evaluate(new Function('root', `return (${cutTexts})(root)`) as () => string[]);

describe('texts half as long again', () => {
  let editor: Editor;
  let window: EditorWindow;
  const copy = copyWorkspace();

  before(async () => {
    mkdirSync(join(copy.path, '.minds'));
    writeFileSync(join(copy.path, '.minds', 'mcp.yaml'), config);
    editor = await startEditor({
      product: 'installed',
      language: longLanguage,
      settings: { 'mcpToolsets.approval': 'ask' },
    });
    window = await editor.openWindow(copy.path);
    await window.command('mcpToolsets.servers.focus');
    await narrowSidebar();
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  const sidebar = (): Locator => window.page.locator('.part.sidebar');

  async function narrowSidebar(): Promise<void> {
    const box = await sidebar().boundingBox();
    assert.ok(box);
    const { mouse } = window.page;
    await mouse.move(box.x + box.width, box.y + 300);
    await mouse.down();
    await mouse.move(box.x + narrow, box.y + 300, { steps: 5 });
    await mouse.up();
    assert.equal(Math.round((await sidebar().boundingBox())?.width ?? 0), narrow);
  }

  /** The part of the editor beside the sidebar gets as narrow. */
  async function narrowEditor(): Promise<void> {
    const part = window.page.locator('.part.editor');
    const { width = 0 } = (await part.boundingBox()) ?? {};
    const size = window.page.viewportSize();
    assert.ok(size);
    await window.page.setViewportSize({ ...size, width: size.width - Math.round(width) + narrow });
  }

  it('The review and its button show their texts', async () => {
    const { page } = window;
    await page.getByText('want to start').first().waitFor();
    await window.evaluate((api) => void api.commands.executeCommand('mcpToolsets.reviewPending'));
    const approve = page.locator('.editor-actions .action-label[aria-label^="Approve"]').first();
    await approve.waitFor();
    await narrowEditor();
    await window.screenshot('long-review');
    const lines = page.locator('.editor-instance .view-lines');
    assert.match(await lines.innerText(), /øøø/);
    assert.deepEqual(await cutIn(lines), []);
    assert.deepEqual(await cutIn(page.locator('.editor-actions').first()), []);
    await approve.click();
  });

  it('The sidebar shows its texts, and the editor shortens only what follows a name', async () => {
    await sidebar().locator('.label-description', { hasText: 'did not start' }).waitFor();
    await sidebar().locator('.label-description', { hasText: '2 of 3 tools' }).waitFor();
    await window.screenshot('long-sidebar');
    const cut = await cutIn(sidebar());
    const whole = cut.filter((text) => !/^SPAN.label-description: |: "missing" did/.test(text));
    assert.deepEqual(whole, []);
  });

  it('Try Tool shows its texts', async () => {
    await window.command('mcpToolsets.tryTool', 'shop', 'order');
    const inPage = (selector: string): Locator => window.page.locator(inWebview(selector)).first();
    await inPage('button:has-text("Run øø")').click();
    await inPage('.field:has-text("This is required. øø")').waitFor();
    await window.screenshot('long-try-tool');
    assert.deepEqual(await cutIn(inPage('body')), []);
    await inPage('.field:has(label:has-text("name")) textarea').fill('Ann');
    await inPage('button:has-text("Run øø")').click();
    await inPage('.result pre:has-text("Ann")').waitFor();
    await window.screenshot('long-try-tool-result');
    assert.deepEqual(await cutIn(inPage('body')), []);
  });
});
