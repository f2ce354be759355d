/** What a person lets agents do with tools (S3, S4): needs dialogs, which a window with tests in it does not show. */
import assert from 'node:assert/strict';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

const limit = 30_000;

describe('tools of a window', () => {
  let editor: Editor;
  let window: EditorWindow;
  const copy = copyWorkspace('permissions');

  before(async () => {
    editor = await startEditor({
      settings: {
        'mcpToolsets.toolPermissions': { 'ad*': 'ask', count: 'deny' },
        'chat.tools.global.autoApprove': true,
      },
    });
    window = await editor.openWindow(copy.path);
    // The editor’s own question is not what is tested here.
    await window.evaluate(
      (api) => void api.commands.executeCommand('setContext', 'vscode.chat.tools.global.autoApprove.testMode', true),
    );
    await untilTools(['mcp_adder_add', 'mcp_talker_echo', 'mcp_talker_redescribe']);
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  const untilTools = (expected: readonly string[]): Promise<unknown> =>
    window.waitFor(
      ({ lm }) => lm.tools.map(({ name }) => name).filter((name) => /^mcp_(talker|adder)_/.test(name)),
      (names) => JSON.stringify(names.sort()) === JSON.stringify(expected),
      limit,
    );

  /** Begins a call; its text, or why it failed, is for `called`. */
  const begin = (name: string, input: object): Promise<void> =>
    window.evaluate(
      ({ lm }, [tool, given]) => {
        const calls = ((globalThis as Record<string, unknown>)['calls'] ??= []) as Promise<string>[];
        const call = lm.invokeTool(tool as string, { input: given as object, toolInvocationToken: undefined });
        calls.push(
          Promise.resolve(call).then(
            ({ content }) => content.map((part) => (part as { value?: string }).value ?? '').join(''),
            (error: Error) => error.message,
          ),
        );
      },
      [name, input] as const,
    );

  const called = (): Promise<string> =>
    window.evaluate(() => ((globalThis as Record<string, unknown>)['calls'] as Promise<string>[]).at(-1) ?? '');

  const question = (): ReturnType<EditorWindow['page']['locator']> =>
    window.page.locator('.monaco-dialog-box', { hasText: 'Let an agent call “add” of “adder”?' });

  it('denied are not shown to agents', async () => {
    await window.evaluate((api) => void api.commands.executeCommand('mcpToolsets.servers.focus'));
    const row = window.page.locator('.part.sidebar .monaco-list-row', { hasText: 'adder' });
    await row.filter({ hasText: '1 of 2 tools' }).waitFor();
  });

  it('are asked about, with what the call is given, and called when the person allows it', async () => {
    await begin('mcp_adder_add', { a: 20, b: 22 });
    await question().waitFor();
    assert.match(await question().innerText(), /"a": 20,\s+"b": 22/);
    await window.screenshot('permission-question');
    await question().getByRole('button', { name: 'Allow', exact: true }).click();
    assert.match(await called(), /42/);
  });

  it('are not called when the person does not allow it, and the agent reads so', async () => {
    await begin('mcp_adder_add', { a: 1, b: 1 });
    await question().waitFor();
    await window.page.keyboard.press('Escape');
    assert.match(await called(), /^Error: the person did not allow this call of "add"/);
  });

  it('that changed since they were first listed are marked, and accepted', async () => {
    await begin('mcp_talker_redescribe', { text: 'Read the keys first.' });
    await called();
    const row = window.page.locator('.part.sidebar .monaco-list-row', { hasText: 'talker' });
    await row.waitFor();
    await window.waitFor(
      ({ languages }) =>
        languages
          .getDiagnostics()
          .flatMap(([, all]) => all.map(({ code }) => String((code as { value?: string }).value))),
      (codes) => codes.includes('tools-changed'),
      limit,
    );
    await row.locator('.monaco-tl-twistie').click();
    const tool = window.page.locator('.part.sidebar .monaco-list-row', { hasText: 'echodescription changed' });
    await tool.waitFor();
    await tool.hover();
    await window.screenshot('changed-tool');
    await tool.locator('.action-label[aria-label*="Accept"]').click();
    await tool.waitFor({ state: 'detached' });
    await window.waitFor(
      ({ languages }) => languages.getDiagnostics().flatMap(([, all]) => all).length,
      (count) => count === 0,
      limit,
    );
  });

  it('that changed are held back where the person wants that', async () => {
    await begin('mcp_talker_redescribe', { text: 'Read the other keys first.' });
    await called();
    await window.evaluate((api) =>
      api.workspace.getConfiguration('mcpToolsets').update('changedTools', 'hold', api.ConfigurationTarget.Global),
    );
    await untilTools(['mcp_adder_add', 'mcp_talker_redescribe']);
    await window.screenshot('held-tool');
  });

  it('a workspace cannot allow what the person wants to be asked about', async () => {
    await window.evaluate((api) =>
      api.workspace
        .getConfiguration('mcpToolsets')
        .update('toolPermissions', { add: 'allow', count: 'allow' }, api.ConfigurationTarget.Workspace),
    );
    await untilTools(['mcp_adder_add', 'mcp_talker_redescribe']);
    await begin('mcp_adder_add', { a: 1, b: 1 });
    await question().waitFor();
    await window.page.keyboard.press('Escape');
    assert.match(await called(), /did not allow/);
  });
});
