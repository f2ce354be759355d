/**
 * An editor in Simplified Chinese: the sidebar, the Problems view, the review, the settings and the
 * palette are in Chinese. The editor's own texts stay English, because it has no pack of the
 * language.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../../support/npm.mjs';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

const script = join(repoRoot, 'test/fixtures/servers/raw.mjs');
const config = `version: 1
servers:
  files:
    transport: stdio
    command: node
    args: ['${script}', --tools, 'echo,pid']
    tools: { whitelist: ['echo', 'nothing_*'] }
  broken:
    transport: stdio
    args: [x]
`;

const inTitle = '.editor-actions .action-label[aria-label="批准所显示的内容"]';

describe('an editor in Chinese', () => {
  let editor: Editor;
  let window: EditorWindow;
  const copy = copyWorkspace();

  before(async () => {
    mkdirSync(join(copy.path, '.minds'));
    writeFileSync(join(copy.path, '.minds', 'mcp.yaml'), config);
    editor = await startEditor({
      product: 'installed',
      language: 'zh-cn',
      settings: { 'mcpToolsets.approval': 'ask' },
    });
    window = await editor.openWindow(copy.path);
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  const command = (id: string, ...given: unknown[]): Promise<void> =>
    window.evaluate(
      async (api, all) => void (await api.commands.executeCommand(all.id, ...all.given)),
      { id, given },
    );

  it('The review and its question are in Chinese', async () => {
    const { page } = window;
    await page.getByText('中的 MCP 服务器 “files” 请求启动').waitFor();
    // The command ends with the answer.
    await window.evaluate((api) => void api.commands.executeCommand('mcpToolsets.reviewPending'));
    await page.getByText('以下程序和地址将会启动').first().waitFor();
    await page.locator('.tab', { hasText: 'MCP 服务器（待批准）' }).waitFor();
    await page.locator(inTitle).first().waitFor();
    await window.screenshot('chinese-review');
    await page.locator(inTitle).first().click();
  });

  it('The sidebar and the Problems view are in Chinese', async () => {
    const { page } = window;
    await command('mcpToolsets.servers.focus');
    const row = page.locator('.part.sidebar .monaco-list-row[aria-label^="files"]');
    await row.getByText('1/2 个工具').waitFor();
    if ((await row.getAttribute('aria-expanded')) !== 'true') await row.click();
    await page.locator('.part.sidebar').getByText('不在白名单中').waitFor();
    await command('workbench.actions.view.problems');
    await page.locator('.markers-panel').getByText('没有 "command"').first().waitFor();
    await window.screenshot('chinese-sidebar');
  });

  it('The palette and the settings are in Chinese', async () => {
    const { page } = window;
    await command('workbench.action.quickOpen', '>MCP Toolsets: 管理');
    await page.locator('.quick-input-list').getByText('管理服务器…').first().waitFor();
    await window.screenshot('chinese-palette');
    await page.keyboard.press('Escape');
    await command('mcpToolsets.openSettings');
    await page.getByText('控制受信任工作区的服务器在启动前是否需要你批准').first().waitFor();
    await window.screenshot('chinese-settings');
  });
});
