/**
 * `{ secret: NAME }` in a real window (C2a, E4): the question, the receiver of the value, and no
 * clear text anywhere.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CodeAction } from 'vscode';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

const limit = 60_000;
const [first, second, made] = [
  'canary-first-5ca1ab1e',
  'canary-second-5ca1ab1e',
  'canary-made-5ca1ab1e',
];
const canary = /canary-[a-z]+-5ca1ab1e/;

describe('secrets entered by a person', () => {
  let editor: Editor;
  let window: EditorWindow;
  const copy = copyWorkspace('enteredSecrets');
  const file = join(copy.path, '.minds', 'mcp.yaml');

  before(async () => {
    editor = await startEditor({
      settings: {
        'mcpToolsets.trace': true,
        'chat.tools.global.autoApprove': true,
        'files.autoSave': 'off',
      },
    });
    window = await editor.openWindow(copy.path);
    await window.approveCalls();
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  const problems = (expected: readonly string[]): Promise<string[]> =>
    window.waitFor(
      ({ languages, workspace }) =>
        workspace.workspaceFolders
          ? languages
              .getDiagnostics()
              .flatMap(([, found]) => found)
              .filter(({ source }) => source === 'MCP Toolsets')
              .map(({ code }) => String((code as { value: unknown }).value))
          : [],
      (codes) =>
        JSON.stringify(codes.filter((code) => code.endsWith('-unset')).sort()) ===
        JSON.stringify(expected),
    );

  /**
   * Applies the quick fix of a problem like a click on the light bulb: its edit first, and then its
   * command.
   */
  const enterByQuickFix = (code: string): Promise<void> =>
    window.evaluate(
      async (api, [path, wanted]) => {
        const uri = api.Uri.file(path as string);
        const document = await api.workspace.openTextDocument(uri);
        await api.window.showTextDocument(document);
        const problem = api.languages
          .getDiagnostics(uri)
          .find((found) => (found.code as { value: unknown }).value === wanted);
        if (!problem) throw new Error(`no ${wanted}`);
        const actions: CodeAction[] = await api.commands.executeCommand(
          'vscode.executeCodeActionProvider',
          uri,
          problem.range,
        );
        const action = actions.find(({ title }) => title.startsWith('Enter the value of'));
        if (!action?.command) throw new Error(actions.map(({ title }) => title).join());
        if (action.edit) throw new Error('The file is changed before the value is entered.');
        void api.commands.executeCommand(
          action.command.command,
          ...(action.command.arguments ?? []),
        );
      },
      [file, code] as const,
    );

  async function answer(value: string): Promise<void> {
    const box = window.page.locator('.quick-input-widget input[type="password"]');
    await box.waitFor();
    await box.fill(value);
    await window.page.keyboard.press('Enter');
    await box.waitFor({ state: 'hidden' });
  }

  const untilTool = (name: string): Promise<unknown> =>
    window.waitFor(
      ({ lm }) => lm.tools.map((tool) => tool.name),
      (names) => names.includes(name),
    );

  /** A new window has tools before their server has started. */
  async function untilGiven(tool: string, value: string): Promise<void> {
    const end = Date.now() + limit;
    let given = '';
    do {
      given = await window.invokeTool(tool, { name: 'GIVEN' }).catch(String);
    } while (given !== value && Date.now() < end);
    assert.equal(given, value);
  }

  const servers = (): number =>
    editor.processes().filter(({ command }) => command.includes('fixtures/servers/raw.mjs')).length;

  it('Missing secrets hold their servers back, with a problem for each', async () => {
    await problems(['env-unset', 'secret-unset']);
    assert.equal(servers(), 0);
  });

  it('A quick fix asks for a secret, and the value reaches the process', async () => {
    await enterByQuickFix('secret-unset');
    await answer(first);
    await untilTool('mcp_kept_env');
    await problems(['env-unset']);
    assert.equal(await window.invokeTool('mcp_kept_env', { name: 'GIVEN' }), `key ${first}`);
    await window.invokeTool('mcp_kept_stderr', { text: `the key is ${first}` });
  });

  it('A secret is written into the file only after the person has entered a value', async () => {
    const before = readFileSync(file, 'utf8');
    await enterByQuickFix('env-unset');
    const box = window.page.locator('.quick-input-widget input[type="password"]');
    await box.waitFor();
    await window.page.keyboard.press('Escape');
    await box.waitFor({ state: 'hidden' });
    assert.equal(readFileSync(file, 'utf8'), before);
    await problems(['env-unset']);
  });

  it('A secret replaces an unset variable, and comments stay', async () => {
    await enterByQuickFix('env-unset');
    await answer(made);
    await untilTool('mcp_unset_env');
    assert.equal(await window.invokeTool('mcp_unset_env', { name: 'GIVEN' }), `${made}!`);
    const text = readFileSync(file, 'utf8');
    assert.match(text, /GIVEN: \{ secret: UNSET_TOKEN, suffix: '!' \} # to be made a secret/);
    assert.match(text, /# The first one wants a secret\./);
    await problems([]);
  });

  it('Set Secret… replaces a secret and restarts only the servers that use it', async () => {
    const [kept, unset] = [await window.invokeTool('mcp_kept_pid'), servers()];
    await window.evaluate(
      ({ commands }) => void commands.executeCommand('mcpToolsets.setSecret', 'KEPT_TOKEN'),
    );
    await answer(second);
    await untilGiven('mcp_kept_env', `key ${second}`);
    assert.notEqual(await window.invokeTool('mcp_kept_pid'), kept);
    assert.ok(unset >= 2);
  });

  it('A secret survives a reload of the window without a question', async () => {
    await window.reload();
    await window.approveCalls();
    await untilGiven('mcp_kept_env', `key ${second}`);
    await untilGiven('mcp_unset_env', `${made}!`);
    await problems([]);
    assert.equal(
      await window.page.locator('.quick-input-widget input[type="password"]').isVisible(),
      false,
    );
  });

  // The core tests cover server logs, because this form of the editor writes no log files.
  it('A secret is in no file, problem or row in clear (E4)', async () => {
    await window.evaluate(
      ({ commands }) => void commands.executeCommand('mcpToolsets.servers.focus'),
    );
    await window.page
      .locator('.part.sidebar .monaco-list-row', { hasText: 'kept' })
      .first()
      .waitFor();
    assert.doesNotMatch(await window.page.content(), canary);
    assert.doesNotMatch(
      await window.evaluate(({ languages }) => JSON.stringify(languages.getDiagnostics())),
      canary,
    );
    const paths = [editor.dataDir, copy.path].flatMap((root) =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    );
    for (const path of paths) assert.doesNotMatch(readFileSync(path, 'latin1'), canary, path);
  });
});
