/**
 * An editor in Simplified Chinese: the sidebar, the Problems view, the review, the settings and the
 * palette are in Chinese. The editor's own texts stay English, because it has no pack of the
 * language.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../../support/npm.mjs';
import { AgentWindow } from '../../support/editor/agentWindow.ts';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import { inWebview } from '../../support/editor/webviews.ts';
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

const imported = JSON.stringify({
  mcpServers: {
    remote: {
      command: 'npx -y some-server',
      env: { API_KEY: 'sk-1234567890abcdef1234567890abcdef' },
      alwaysAllow: ['read'],
      timeout: 60,
      colour: 'red',
    },
    nothing: {},
  },
});

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
    await window.command('mcpToolsets.servers.focus');
    const row = page.locator('.part.sidebar .monaco-list-row[aria-label^="files"]');
    await row.getByText('1/2 个工具').waitFor();
    if ((await row.getAttribute('aria-expanded')) !== 'true') await row.click();
    await page.locator('.part.sidebar').getByText('不在白名单中').waitFor();
    await window.command('workbench.actions.view.problems');
    await page.locator('.markers-panel').getByText('没有 "command"').first().waitFor();
    await window.screenshot('chinese-sidebar');
  });

  it('The hover and the completion of a config file are in Chinese', async () => {
    const { page } = window;
    const file = join(copy.path, '.minds', 'mcp.yaml');
    await window.command('workbench.action.closePanel');
    await window.evaluate(async (api, path) => {
      const shown = await api.window.showTextDocument(api.Uri.file(String(path)));
      const at = new api.Position(3, 6);
      shown.selection = new api.Selection(at, at);
    }, file);
    await window.command('editor.action.showHover');
    await page.locator('.monaco-hover').getByText('如何连接服务器。').waitFor();
    await window.screenshot('chinese-hover');
    await window.evaluate(async (api) => {
      const shown = api.window.activeTextEditor;
      const end = shown?.document.lineAt(9).range.end ?? new api.Position(0, 0);
      await shown?.edit((edit) => edit.insert(end, '\n    '));
    });
    await window.command('editor.action.triggerSuggest');
    await page.locator('.suggest-widget').getByText('必需').first().waitFor();
    await window.command('toggleSuggestionDetails');
    await window.screenshot('chinese-completion');
    await page.keyboard.press('Escape');
    await window.command('workbench.action.files.revert');
  });

  it('*Try Tool* is in Chinese', async () => {
    await window.command('mcpToolsets.tryTool', 'files', 'echo');
    const inPage = (selector: string) => window.page.locator(inWebview(selector)).first();
    await inPage('textarea, input').fill('你好');
    await window.screenshot('chinese-try-tool');
    await inPage('button:text-is("运行")').click();
    await inPage('.result pre:has-text("你好")').waitFor();
    await window.screenshot('chinese-try-tool-result');
  });

  it('The report of an import is in Chinese', async () => {
    const { page } = window;
    const file = join(copy.path, 'claude_desktop_config.json');
    writeFileSync(file, imported);
    await window.evaluate(
      (api, path) => void api.commands.executeCommand('mcpToolsets.import', path),
      file,
    );
    await page.locator('.quick-input-list').getByText('所有人').first().waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.view-line', { hasText: '启动之前要做的事' }).waitFor();
    await page.getByText('将这 1 个服务器写入').first().waitFor();
    await window.screenshot('chinese-import');
  });

  it('The palette and the settings are in Chinese', async () => {
    const { page } = window;
    await window.command('workbench.action.quickOpen', '>MCP Toolsets: 管理');
    await page.locator('.quick-input-list').getByText('管理服务器…').first().waitFor();
    await window.screenshot('chinese-palette');
    await page.keyboard.press('Escape');
    await window.command('mcpToolsets.openSettings');
    await page.getByText('控制受信任工作区的服务器在启动前是否需要你批准').first().waitFor();
    await window.screenshot('chinese-settings');
  });
});

describe('@minds in Chinese', () => {
  let editor: Editor;
  let window: EditorWindow;
  let agent: AgentWindow;
  const copy = copyWorkspace('reopened');

  before(async function () {
    this.timeout(180_000);
    editor = await startEditor({
      agentMode: true,
      language: 'zh-cn',
      settings: { 'mcpToolsets.toolPermissions': { count: 'allow', chart: 'ask' } },
    });
    window = await editor.openWindow(copy.path);
    agent = new AgentWindow(editor, window);
    await agent.untilToolsOf('mcp_counter_');
    await agent.enable();
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  it('The answers of @minds, its commands and its questions are in Chinese', async function () {
    this.timeout(240_000);
    const { page } = window;
    const chat = page.locator('.interactive-response');
    await agent.ask('@minds CALL {"tool":"count"}');
    await window.screenshot('chinese-minds-call');
    await agent.ask('@minds /tools');
    await chat.filter({ hasText: '个工具' }).first().waitFor();
    await window.screenshot('chinese-minds-tools');
    const asked = agent.ask('@minds CALL {"tool":"chart"}');
    const question = chat.locator('.monaco-button', { hasText: '允许' }).first();
    await question.waitFor();
    await window.screenshot('chinese-minds-question');
    await question.click();
    await asked;
  });
});
