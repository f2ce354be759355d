/**
 * A chat with `@minds` that is opened again after the window was reloaded (D1, L2, L3, V2): the same dialog with what was
 * said and found in it, its images and files; its instances ended with the window.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import { untilStored } from '../../support/editor/browserStores.ts';
import { waitUntil } from '../../support/editor/processes.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

const mostGreetings = 6;
const greetingLimitMs = 10_000;

interface Answer {
  metadata?: {
    mcpToolsets?: { dialog: string; messages: { kind: string; text?: string }[] };
    toolCallRounds?: { response: string }[];
  };
}

interface Request {
  messages: { text: string; results: { text: string }[] }[];
  tools: unknown[];
}

describe('a chat with @minds over a reload', () => {
  let editor: Editor;
  let window: EditorWindow;
  const copy = copyWorkspace('reopened');

  before(async function () {
    this.timeout(180_000);
    editor = await startEditor({ agentMode: true, settings: { 'mcpToolsets.toolPermissions': { '*': 'allow' } } });
    window = await editor.openWindow(copy.path);
    await untilToolsOf('mcp_counter_');
    await approve();
    await window.evaluate(async ({ commands }) => void (await commands.executeCommand('workbench.action.chat.manage')));
    await untilToolsOf('copilot_');
    await window.evaluate(async ({ commands }) => commands.executeCommand('workbench.action.closeAllEditors'));
    await untilAnswering();
    // What was asked too early has opened the dialog that signs in.
    const dialog = window.page.locator('.monaco-dialog-box');
    if (await dialog.isVisible()) await window.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await run('workbench.action.chat.newChat');
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  const run = (command: string): Promise<unknown> =>
    window.evaluate(async ({ commands }, id) => void (await commands.executeCommand(id as string)), command);

  const approve = (): Promise<unknown> =>
    window.evaluate(async ({ commands }) => {
      await commands.executeCommand('setContext', 'vscode.chat.tools.global.autoApprove.testMode', true);
    });

  const untilToolsOf = (prefix: string): Promise<unknown> =>
    window.waitFor(
      ({ lm }) => lm.tools.map(({ name }) => name),
      (names) => names.some((name) => name.startsWith(prefix)),
    );

  /** Undefined where nobody answers in time. */
  const ask = (query: string, limitMs = 60_000): Promise<Answer | undefined> =>
    window.evaluate(
      async ({ commands }, [text, limit]) => {
        const options = {
          query: text,
          mode: 'agent',
          blockOnResponse: true,
          modelSelector: { vendor: 'scripted', id: 'scripted-1' },
        };
        const answer = commands.executeCommand<Answer | undefined>('workbench.action.chat.open', options);
        const late = new Promise<undefined>((done) => setTimeout(() => done(undefined), limit as number));
        return await Promise.race([answer, late]);
      },
      [query, limitMs] as const,
    );

  /** The agent is registered a moment after its tools; what is asked before is never answered. */
  async function untilAnswering(): Promise<void> {
    for (let attempt = 0; attempt < mostGreetings; attempt++) {
      if (await ask('Are you there?', greetingLimitMs)) return;
      await run('workbench.action.chat.cancel');
      await run('workbench.action.chat.newChat');
    }
    throw new Error('Nobody answers.');
  }

  const call = (tool: string): string => `CALL ${JSON.stringify({ tool })}`;
  const lastWords = ({ metadata }: Answer = {}): string =>
    metadata?.mcpToolsets?.messages.findLast(({ kind }) => kind === 'answer')?.text ?? '';

  /** The editor writes chats to its folder from time to time; what a reload finds there is all that it knows of them. */
  async function untilKept(text: string): Promise<void> {
    const kept = (): boolean =>
      readdirSync(editor.dataDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.parentPath.includes('chatSessions'))
        .some((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').includes(text));
    assert.ok(await waitUntil(kept, 60_000), `no chat with "${text}" is stored`);
  }

  /** Pixels across of the images in the chat. */
  const widths = (): Promise<number[]> =>
    window.page
      .locator('.interactive-response img')
      .evaluateAll((found) => (found as unknown as { naturalWidth: number }[]).map((image) => image.naturalWidth));

  it('goes on as the same dialog, with a new instance, its history, images and files', async function () {
    this.timeout(240_000);
    const first = await ask(`@minds ${call('count')} THEN ${call('chart')}`);
    const dialog = first?.metadata?.mcpToolsets?.dialog;
    assert.match(lastWords(first), /RESULT count: 1\b[^]*of its own[^]*RESULT chart/);
    assert.match(lastWords(await ask(`@minds ${call('count')}`)), /RESULT count: 2\b/);
    // The editor does not always open the last chat of the sidebar again; one in an editor it does.
    await run('workbench.action.chat.openInEditor');
    const answers = window.page.locator('.part.editor .interactive-response');
    await answers.filter({ hasText: 'RESULT count: 2' }).waitFor();
    await untilStored(window, 'memento/workbench.parts.editor', 'chatSession');
    await untilKept('RESULT count: 2');
    const pids = editor.processes().flatMap(({ pid, command }) => (command.includes('plain.mjs') ? [pid] : []));

    await window.reload();
    await untilToolsOf('mcp_counter_');
    await untilToolsOf('copilot_');
    await approve();
    await answers.filter({ hasText: 'RESULT count: 2' }).waitFor();
    await window.page.locator('.part.editor .interactive-response img').first().scrollIntoViewIfNeeded();
    await window.screenshot('reopened');
    assert.deepEqual(await widths(), [240], 'the image shows again');

    await window.page.locator('.part.editor .interactive-input-editor').click();
    await run('scriptedModel.forget');
    const again = await ask(`@minds ${call('count')}`);
    await window.screenshot('goes-on');
    assert.equal(again?.metadata?.mcpToolsets?.dialog, dialog);
    assert.match(lastWords(again), /RESULT count: 1\b[^]*now has an instance of "counter" of its own/);
    const requests = await window.evaluate(({ commands }) =>
      commands.executeCommand<Request[]>('scriptedModel.lastRequests'),
    );
    const [sent] = requests.filter(({ tools }) => tools.length > 0);
    const texts = sent?.messages.flatMap(({ text, results }) => [text, ...results.map((result) => result.text)]) ?? [];
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
      if (command.includes('plain.mjs')) assert.ok(!pids.includes(pid), 'an instance outlived its window');
    }
    await ask('@minds /files');
    await answers.filter({ hasText: /left 1 file[^]*\.png/ }).waitFor();
  });
});
