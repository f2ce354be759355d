/**
 * A chat with `@minds` after a reload of the window (D1). It is the same conversation
 * with its texts, results, images and files. Its instances ended with the window.
 */
import assert from 'node:assert/strict';
import { AgentWindow, type AgentAnswer } from '../../support/editor/agentWindow.ts';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

interface Request {
  messages: { text: string; results: { text: string }[] }[];
  tools: unknown[];
}

describe('a chat with @minds over a reload', () => {
  let editor: Editor;
  let window: EditorWindow;
  let agent: AgentWindow;
  const copy = copyWorkspace('reopened');

  before(async function () {
    this.timeout(180_000);
    editor = await startEditor({
      agentMode: true,
      settings: { 'mcpToolsets.toolPermissions': { '*': 'allow' } },
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

  const call = (tool: string): string => `CALL ${JSON.stringify({ tool })}`;
  const lastWords = ({ metadata }: AgentAnswer = {}): string =>
    metadata?.mcpToolsets?.messages.findLast(({ kind }) => kind === 'answer')?.text ?? '';

  /** The widths of the images in the chat, in pixels. */
  const widths = (): Promise<number[]> =>
    window.page
      .locator('.interactive-response img')
      .evaluateAll((found) =>
        (found as unknown as { naturalWidth: number }[]).map((image) => image.naturalWidth),
      );

  /** The address of the page of the first call in the chat. */
  const pageOfCall = async (): Promise<string> => {
    const line = window.page.locator('.interactive-response .chat-inline-anchor-widget', {
      hasText: 'count',
    });
    return (await line.first().getAttribute('data-href')) ?? '';
  };

  it('A chat with @minds goes on as the same conversation, with a new instance, its history, images and files', async function () {
    this.timeout(240_000);
    const first = await agent.ask(`@minds ${call('count')} THEN ${call('chart')}`);
    const conversation = first?.metadata?.mcpToolsets?.conversation;
    const pageBefore = await pageOfCall();
    assert.match(lastWords(first), /RESULT count: 1\b[^]*its own instance[^]*RESULT chart/);
    assert.match(lastWords(await agent.ask(`@minds ${call('count')}`)), /RESULT count: 2\b/);
    const pids = editor
      .processes()
      .flatMap(({ pid, command }) => (command.includes('raw.mjs') ? [pid] : []));

    await agent.reloadWithChat('RESULT count: 2', 'mcp_counter_');
    await window.page
      .locator('.part.editor .interactive-response img')
      .first()
      .scrollIntoViewIfNeeded();
    await window.screenshot('reopened');
    assert.deepEqual(await widths(), [240], 'the image shows again');

    await agent.run('scriptedModel.forget');
    const again = await agent.ask(`@minds ${call('count')}`);
    await window.screenshot('goes-on');
    assert.equal(again?.metadata?.mcpToolsets?.conversation, conversation);
    assert.match(
      lastWords(again),
      /RESULT count: 1\b[^]*The instance of "counter" that this conversation had is gone/,
    );
    const requests = await window.evaluate(({ commands }) =>
      commands.executeCommand<Request[]>('scriptedModel.lastRequests'),
    );
    const [sent] = requests.filter(({ tools }) => tools.length > 0);
    const texts =
      sent?.messages.flatMap(({ text, results }) => [
        text,
        ...results.map((result) => result.text),
      ]) ?? [];
    assert.equal(texts.filter((text) => /^CALL /.test(text)).length, 3, 'the questions so far');
    assert.ok(
      texts.some((text) => /^2\b/.test(text)),
      'and what was found',
    );
    assert.ok(
      texts.some((text) => text.includes('was shown at that time')),
      'images as a note',
    );
    for (const { pid, command } of editor.processes()) {
      if (command.includes('raw.mjs'))
        assert.ok(!pids.includes(pid), 'an instance outlived its window');
    }
    await agent.ask('@minds /files');
    await agent.answers.filter({ hasText: /has 1 file[^]*\.png/ }).waitFor();
    const shown = await window.evaluate(
      async ({ Uri, workspace }, address) =>
        (await workspace.openTextDocument(Uri.parse(address))).getText(),
      pageBefore,
    );
    assert.equal(
      shown,
      'The input and output of this call are no longer kept.',
      `${pageBefore} of the window before`,
    );
  });
});
