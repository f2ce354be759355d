/**
 * Takes the pictures of the README and the walkthrough, in the real editor with the installed
 * product, on a copy of the example workspace: `npm run screenshots`. Run it after `npm run build`,
 * look at the pictures, and commit them.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { undoAll } from './editor/cleanup.ts';
import { startEditor } from './editor/launch.ts';
import type { EditorWindow } from './editor/window.ts';
import { inWebview } from './editor/webviews.ts';
import { copyWorkspace } from './editor/workspaces.ts';
import { repoRoot } from './npm.mjs';

type Theme = 'light' | 'dark';

const names = { light: 'Default Light Modern', dark: 'Default Dark Modern' };
const media = join(repoRoot, 'media');
const rows = '.part.sidebar .monaco-list-row';

async function main(): Promise<void> {
  mkdirSync(join(media, 'walkthrough'), { recursive: true });
  const { path, remove } = copyWorkspace('example');
  const editor = await startEditor({
    product: 'installed',
    allExtensions: true,
    settings: { 'editor.minimap.enabled': false, 'files.autoSave': 'off' },
  });
  try {
    const window = await editor.openWindow(path);
    const { page } = window;
    await page.setViewportSize({ width: 1280, height: 800 });
    await command(window, 'workbench.action.closeAuxiliaryBar');
    await command(window, 'mcpToolsets.servers.focus');
    await page.getByText('MCP 3/3').waitFor({ timeout: 120_000 });
    await open(window, path);
    for (let times = 0; times < 3; times++) {
      await command(window, 'mcpToolsets.servers.focus');
      await command(window, 'workbench.action.increaseViewSize');
    }
    for (const theme of ['dark', 'light'] as const) {
      await show(window, theme);
      await sidebar(window, theme);
      await completion(window, path, theme);
      await tryTool(window, theme);
    }
    await problems(window, path);
  } finally {
    await editor.close();
    await remove();
    await undoAll();
  }
}

const command = (window: EditorWindow, id: string, ...given: unknown[]): Promise<void> =>
  window.evaluate(
    async (api, all) => void (await api.commands.executeCommand(all.id, ...all.given)),
    { id, given },
  );

const open = (window: EditorWindow, folder: string): Promise<void> =>
  window.evaluate(
    async (api, file) => void (await api.window.showTextDocument(api.Uri.file(file))),
    configOf(folder),
  );

const configOf = (folder: string): string => join(folder, '.minds', 'mcp.yaml');

/** Waits for moving parts to rest: hovers, menus, progress. */
const settle = (page: Page): Promise<void> => page.waitForTimeout(1_500);

async function show(window: EditorWindow, theme: Theme): Promise<void> {
  await window.evaluate(
    (api, name) =>
      api.workspace
        .getConfiguration('workbench')
        .update('colorTheme', name, api.ConfigurationTarget.Global),
    names[theme],
  );
  await window.page
    .locator(`.monaco-workbench.vs${theme === 'dark' ? '-dark' : ':not(.vs-dark)'}`)
    .waitFor();
}

const picture = (name: string, theme: Theme): string =>
  join(media, `walkthrough/${name}-${theme}.png`);

async function sidebar(window: EditorWindow, theme: Theme): Promise<void> {
  const { page } = window;
  const row = page.locator(`${rows}[aria-label^="everything"]`);
  if ((await row.getAttribute('aria-expanded')) !== 'true') await row.click();
  // A selected row shows buttons in place of its text.
  await command(window, 'list.clear');
  await page.locator('.part.editor').hover();
  await settle(page);
  const clip = { ...(await boxOf(page, '.part.sidebar')), height: 440 };
  await page.screenshot({ path: picture('sidebar', theme), clip });
}

async function completion(window: EditorWindow, folder: string, theme: Theme): Promise<void> {
  const { page } = window;
  const text = readFileSync(configOf(folder), 'utf8');
  const line = text.split('\n').findIndex((one) => one.includes("'list_*'"));
  await window.evaluate((api, at) => {
    const shown = api.window.activeTextEditor;
    if (!shown) throw new Error('no editor');
    const end = shown.document.lineAt(at).text.indexOf("'search_files'");
    shown.selection = new api.Selection(at, end, at, end);
    return shown
      .edit((edit) => edit.insert(shown.selection.active, "'', "))
      .then(() => {
        shown.selection = new api.Selection(at, end + 1, at, end + 1);
      });
  }, line);
  await command(window, 'editor.action.triggerSuggest');
  await page.locator('.suggest-widget .monaco-list-row').first().waitFor();
  await settle(page);
  const clip = { ...(await boxOf(page, '.part.editor')), height: 520 };
  await page.screenshot({ path: picture('completion', theme), clip });
  await page.keyboard.press('Escape');
  await command(window, 'workbench.action.files.revert');
}

async function tryTool(window: EditorWindow, theme: Theme): Promise<void> {
  const { page } = window;
  await command(window, 'mcpToolsets.tryTool', 'everything', 'sum');
  await page.locator(inWebview('.field input >> nth=0')).fill('19');
  await page.locator(inWebview('.field input >> nth=1')).fill('23');
  await page.locator(inWebview('button:text-is("Run")')).click();
  await page.locator(inWebview('.result pre')).first().waitFor();
  await settle(page);
  const clip = { ...(await boxOf(page, '.part.editor')), height: 500 };
  await page.screenshot({ path: picture('tryTool', theme), clip });
  await command(window, 'workbench.action.closeActiveEditor');
}

async function problems(window: EditorWindow, folder: string): Promise<void> {
  const { page } = window;
  const file = configOf(folder);
  const text = readFileSync(file, 'utf8');
  const memory = text.indexOf('  memory:');
  writeFileSync(
    file,
    text.slice(0, memory) + text.slice(memory).replace('command: npx', 'command: npxx'),
  );
  await command(window, 'workbench.actions.view.problems');
  await page.locator('.markers-panel .monaco-list-row').getByText('npxx').first().waitFor();
  await settle(page);
  await page.screenshot({ path: join(media, 'screenshot.png') });
}

async function boxOf(
  page: Page,
  selector: string,
): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await page.locator(selector).boundingBox();
  if (!box) throw new Error(`${selector} has no box`);
  return box;
}

void main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
