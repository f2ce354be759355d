/**
 * Leases of real conversations over a reload of the window (L2): the instance ends with the window, and the next call has
 * a new one. Which conversation the editor shows after a reload is its own affair: it does not always open the last.
 */
import assert from 'node:assert/strict';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

const mostGreetings = 6;
const greetingLimitMs = 10_000;

describe('leases over a reload', () => {
  let editor: Editor;
  let window: EditorWindow;
  const copy = copyWorkspace('leases');

  before(async function () {
    this.timeout(180_000);
    editor = await startEditor({ agentMode: true });
    window = await editor.openWindow(copy.path);
    await untilToolsOf('mcp_counter_');
    await prepare();
    await window.evaluate(async ({ commands }) => void (await commands.executeCommand('workbench.action.chat.manage')));
    await untilToolsOf('copilot_');
    await window.evaluate(async ({ commands }) => commands.executeCommand('workbench.action.closeAllEditors'));
    await untilAnswering();
    // What was asked too early has opened the dialog that signs in.
    const dialog = window.page.locator('.monaco-dialog-box');
    if (await dialog.isVisible()) await window.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await window.evaluate(async ({ commands }) => commands.executeCommand('workbench.action.chat.newChat'));
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  const untilToolsOf = (prefix: string): Promise<unknown> =>
    window.waitFor(
      ({ lm }) => lm.tools.map(({ name }) => name),
      (names) => names.some((name) => name.startsWith(prefix)),
    );

  const prepare = (): Promise<unknown> =>
    window.evaluate(async ({ commands }) => {
      await commands.executeCommand('setContext', 'vscode.chat.tools.global.autoApprove.testMode', true);
      await commands.executeCommand('mcpToolsets.servers.focus');
    });

  /** What the agent answers; undefined where it does not in time. */
  const ask = (query: string, limitMs: number): Promise<string | undefined> =>
    window.evaluate(
      async ({ commands }, [text, limit]) => {
        const answer = commands.executeCommand<{ metadata?: { toolCallRounds?: { response: string }[] } } | undefined>(
          'workbench.action.chat.open',
          {
            query: text,
            mode: 'agent',
            blockOnResponse: true,
            modelSelector: { vendor: 'scripted', id: 'scripted-1' },
          },
        );
        const late = new Promise<undefined>((done) => setTimeout(() => done(undefined), limit as number));
        return (await Promise.race([answer, late]))?.metadata?.toolCallRounds?.at(-1)?.response;
      },
      [query, limitMs] as const,
    );

  /** The agent is registered a moment after its tools; what is asked before is never answered. */
  async function untilAnswering(): Promise<void> {
    for (let attempt = 0; attempt < mostGreetings; attempt++) {
      if ((await ask('Are you there?', greetingLimitMs)) !== undefined) return;
      await window.evaluate(async ({ commands }) => {
        await commands.executeCommand('workbench.action.chat.cancel');
        await commands.executeCommand('workbench.action.chat.newChat');
      });
    }
    throw new Error('The agent does not answer.');
  }

  const call = (tool: string): Promise<string | undefined> => ask(`CALL ${JSON.stringify({ tool })}`, 60_000);

  /** Resolves when the sidebar shows the one lease with its conversation. */
  async function leaseholder(): Promise<void> {
    const rows = window.page.locator('.part.sidebar .monaco-list-row');
    const lease = rows.filter({ hasText: /chat [0-9a-f]{8}/ });
    for (const folded of ['counter', 'Instances']) {
      if (await lease.isVisible()) break;
      await rows.filter({ hasText: folded }).first().locator('.monaco-tl-twistie').click();
    }
    await lease.waitFor();
  }

  it('end with the window; the next call is told that it has a new instance', async function () {
    this.timeout(180_000);
    assert.match((await call('mcp_counter_count')) ?? '', /: 1\b[^]*of its own/);
    assert.match((await call('mcp_counter_count')) ?? '', /: 2\b/);
    await leaseholder();
    const pids = editor.processes().flatMap(({ pid, command }) => (command.includes('plain.mjs') ? [pid] : []));
    await window.screenshot('lease');

    await window.reload();
    await untilToolsOf('mcp_counter_');
    await untilToolsOf('copilot_');
    await prepare();
    let text = await call('mcp_counter_count');
    for (let attempt = 0; text === undefined && attempt < mostGreetings; attempt++)
      text = await call('mcp_counter_count');
    assert.match(text ?? '', /: 1\b[^]*of its own/);
    await leaseholder();
    await window.screenshot('lease-after-reload');
    for (const { pid, command } of editor.processes()) {
      if (command.includes('plain.mjs')) assert.ok(!pids.includes(pid), 'an instance outlived its window');
    }
  });
});
