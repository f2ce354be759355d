/**
 * Leases of real conversations over a reload of the window (L2). The conversation keeps its id, its
 * instance ends with the window, and the next call has a new one.
 */
import assert from 'node:assert/strict';
import { AgentWindow } from '../../support/editor/agentWindow.ts';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { inWebview } from '../../support/editor/webviews.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

describe('leases over a reload', () => {
  let editor: Editor;
  let window: EditorWindow;
  let agent: AgentWindow;
  const copy = copyWorkspace('leases');

  before(async function () {
    this.timeout(180_000);
    editor = await startEditor({ agentMode: true });
    window = await editor.openWindow(copy.path);
    agent = new AgentWindow(editor, window);
    await agent.untilToolsOf('mcp_counter_');
    await agent.enable();
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  const call = async (tool: string): Promise<string> => {
    const answer = await agent.ask(`CALL ${JSON.stringify({ tool })}`);
    return answer?.metadata?.toolCallRounds?.at(-1)?.response ?? '';
  };
  const count = (): Promise<string> => call('mcp_counter_count');
  const show = (): Promise<string> => call('mcp_shown_show');

  /** Presses a button of the last visible app. */
  async function bump(): Promise<string> {
    await window.page.locator(inWebview('#bump', -1)).click();
    const answer = window.page.locator(inWebview('#answer', -1)).filter({ hasText: /^bump/ });
    await answer.waitFor();
    return answer.innerText();
  }

  const instances = (): number[] =>
    editor.processes().flatMap(({ pid, command }) => (command.includes('raw.mjs') ? [pid] : []));

  /** The only conversation with leases, from the sidebar. */
  async function leaseholder(): Promise<string> {
    await agent.run('mcpToolsets.servers.focus');
    const rows = window.page.locator('.part.sidebar .monaco-list-row');
    const lease = rows.and(window.page.locator('[aria-label*=", instance, "]')).first();
    for (const folded of ['counter', 'Instances']) {
      if (await lease.isVisible()) break;
      await rows.filter({ hasText: folded }).first().locator('.monaco-tl-twistie').click();
    }
    const hover = window.page.locator('.workbench-hover', { hasText: 'conversation ' });
    const away = window.page.locator('.part.statusbar');
    // The editor shows no hover for a row that changes under the pointer, as when the chat gets its
    // title.
    do {
      await away.hover();
      await lease.hover();
    } while (
      !(await hover.waitFor({ timeout: 5_000 }).then(
        () => true,
        () => false,
      ))
    );
    const text = await hover.innerText();
    // It would cover the app.
    await away.hover();
    await hover.waitFor({ state: 'detached' });
    return /conversation [0-9a-f-]{36}/.exec(text)?.[0] ?? assert.fail('no conversation');
  }

  it('A lease ends with the window, and the same conversation gets a new one with a notice about the old (X4)', async function () {
    this.timeout(240_000);
    assert.match(await count(), /: 1\b[^]*its own instance/);
    assert.match(await count(), /: 2\b/);
    const holder = await leaseholder();
    const before = instances();
    await window.screenshot('lease');
    assert.match(await show(), /Counted 0 times/);
    assert.match(await bump(), /^bump \{"count":1/);

    await agent.reloadWithChat('RESULT mcp_shown_show: Counted 0 times', 'mcp_counter_');
    assert.match(
      await count(),
      /: 1\b[^]*is gone \(MCP Toolsets was (?:shut down|started again)\) with all that it held/,
    );
    assert.equal(await leaseholder(), holder);
    await window.screenshot('lease-after-reload');
    for (const pid of instances())
      assert.ok(!before.includes(pid), 'an instance outlived its window');
  });

  it('A request of an app from before the reload is refused, and an app opened now works (G8)', async () => {
    assert.match(
      await bump(),
      /^bump failed: .*"shown" does not know which conversation opened this app.*Ask for the app again/,
    );
    await window.screenshot('app-after-reload');
    assert.match(await show(), /Counted 0 times/);
    assert.match(await bump(), /^bump \{"count":1/);
  });
});
