/**
 * Agent mode in a window controlled from outside. Suites inside an editor use `agentMode.ts`. The
 * editor starts with `agentMode: true`, and only the language model is scripted.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { untilStored } from './browserStores.ts';
import type { Editor } from './launch.ts';
import { waitUntil } from './processes.ts';
import type { EditorWindow } from './window.ts';

export interface AgentAnswer {
  metadata?: {
    mcpToolsets?: { conversation: string; messages: { kind: string; text?: string }[] };
    toolCallRounds?: { response: string }[];
  };
}

const answerLimitMs = 60_000;
/** On a busy machine, a window needs a long time to start everything. */
const toolsLimitMs = 120_000;

export class AgentWindow {
  constructor(
    private readonly editor: Editor,
    private readonly window: EditorWindow,
  ) {}

  /** Resolves when agents answer, in a new chat. Calls of tools need no approval. */
  async enable(): Promise<void> {
    await this.enableTools();
    assert.ok(await this.ask('Are you there?', toolsLimitMs), 'the agent does not answer');
    await this.run('workbench.action.chat.newChat');
  }

  /** Resolves when the editor's agent has its tools. It may not answer yet. */
  async enableTools(): Promise<void> {
    await this.window.approveCalls();
    await this.untilCommand('workbench.action.chat.manage');
    await this.run('workbench.action.chat.manage');
    await this.untilToolsOf('copilot_');
    await this.run('workbench.action.closeAllEditors');
  }

  /**
   * Reloads the window with its chat. The chat moves to an editor first, because the editor does
   * not always restore it in the sidebar.
   */
  async reloadWithChat(lastWords: string, prefix: string): Promise<void> {
    await this.run('workbench.action.chat.openInEditor');
    await this.answers.filter({ hasText: lastWords }).waitFor();
    await untilStored(this.window, 'memento/workbench.parts.editor', 'chatSession');
    await this.untilKept(lastWords);
    await this.window.reload();
    await this.untilToolsOf(prefix);
    await this.untilToolsOf('copilot_');
    await this.window.approveCalls();
    await this.answers.filter({ hasText: lastWords }).waitFor();
    await this.window.page.locator('.part.editor .interactive-input-editor').click();
  }

  /** The answers of the chat in an editor. */
  get answers(): ReturnType<EditorWindow['page']['locator']> {
    return this.window.page.locator('.part.editor .interactive-response');
  }

  run(command: string): Promise<unknown> {
    return this.window.evaluate(
      async ({ commands }, id) => void (await commands.executeCommand(id as string)),
      command,
    );
  }

  /** The workbench registers some of its commands after the start of the extension host. */
  untilCommand(id: string): Promise<unknown> {
    return this.window.waitFor(
      ({ commands }) => commands.getCommands(),
      (all) => all.includes(id),
      toolsLimitMs,
    );
  }

  untilToolsOf(prefix: string): Promise<unknown> {
    return this.window.waitFor(
      ({ lm }) => lm.tools.map(({ name }) => name),
      (names) => names.some((name) => name.startsWith(prefix)),
      toolsLimitMs,
    );
  }

  /**
   * Asks in the last used chat. The agent is registered a moment after its tools. An earlier
   * question ends in the sign-in dialog, so this closes the dialog and asks again.
   *
   * @returns undefined without an answer in time
   */
  async ask(query: string, limitMs = answerLimitMs): Promise<AgentAnswer | undefined> {
    const limit = Date.now() + limitMs;
    const dialog = this.window.page.locator('.monaco-dialog-box').filter({ hasText: 'Sign in' });
    for (let left = limitMs; left > 0; left = limit - Date.now()) {
      const asked = this.askOnce(query, left);
      const tooEarly = dialog.waitFor({ timeout: left }).then(
        () => 'too early' as const,
        () => asked,
      );
      const answer = await Promise.race([asked, tooEarly]);
      if (answer !== 'too early') return answer;
      await this.window.page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      await this.run('workbench.action.chat.cancel');
    }
    return undefined;
  }

  private askOnce(query: string, limitMs: number): Promise<AgentAnswer | undefined> {
    return this.window.evaluate(
      async ({ commands }, [text, limit]) => {
        const options = {
          query: text,
          mode: 'agent',
          blockOnResponse: true,
          modelSelector: { vendor: 'scripted', id: 'scripted-1' },
        };
        const answer = commands.executeCommand<AgentAnswer | undefined>(
          'workbench.action.chat.open',
          options,
        );
        const late = new Promise<undefined>((done) =>
          setTimeout(() => done(undefined), limit as number),
        );
        return await Promise.race([answer, late]);
      },
      [query, limitMs] as const,
    );
  }

  /**
   * The editor writes chats to its folder from time to time. A reload restores only written chats.
   */
  private async untilKept(text: string): Promise<void> {
    const kept = (): boolean =>
      readdirSync(this.editor.dataDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.parentPath.includes('chatSessions'))
        .some((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').includes(text));
    assert.ok(await waitUntil(kept, answerLimitMs), `no chat with "${text}" is stored`);
  }
}
