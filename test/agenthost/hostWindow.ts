/**
 * A window with chats in the agent host, controlled from outside. Their model is scripted. A turn
 * waits for the model's next action from the test. So one turn lasts as long as the test wants, and
 * several go on side by side.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScriptedModel, type Talk } from '../agents/models/scriptedModel.ts';
import { AgentWindow } from '../support/editor/agentWindow.ts';
import { startEditor, type Editor } from '../support/editor/launch.ts';
import { waitUntil } from '../support/editor/processes.ts';
import type { EditorWindow } from '../support/editor/window.ts';
import { copyWorkspace } from '../support/editor/workspaces.ts';
import { modelVariable, provisionAgentHost } from './patchedEditor.ts';

const newSession = 'workbench.action.chat.openNewChatSessionInPlace.agent-host-copilotcli';

/** The limit for the start of a window or of an agent's turn, in milliseconds. */
const patience = 180_000;

interface OfferedServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export class HostWindow {
  private readonly agent: AgentWindow;

  private constructor(
    readonly editor: Editor,
    readonly window: EditorWindow,
    readonly workspace: string,
    private readonly model: ScriptedModel,
    readonly close: () => Promise<void>,
  ) {
    this.agent = new AgentWindow(editor, window);
  }

  static async open(): Promise<HostWindow> {
    const form = await provisionAgentHost();
    const model = await ScriptedModel.start();
    const copy = copyWorkspace(join(__dirname, 'workspace'));
    const editor = await startEditor({
      form,
      agentMode: true,
      allExtensions: true,
      outputDir: join(__dirname, '../../test-results/agenthost'),
      env: { [modelVariable]: `${model.url}/agent-host` },
      settings: {
        'mcpToolsets.approval': 'ask',
        'chat.agentHost.allowSignedOutWhenUsable': true,
        'chat.agentHost.byokModels.enabled': true,
        'chat.agentHost.ahpJsonlLoggingEnabled': true,
      },
      dataFiles: {
        // The editor passes these two only to the agent host of a desktop.
        'User/globalStorage/agent-host-config.json': JSON.stringify({
          byokModelsEnabled: true,
          allowSignedOutWhenUsable: true,
        }),
      },
    });
    const close = async (): Promise<void> => {
      await editor.close();
      model.end();
      await copy.remove();
    };
    const opened = new HostWindow(
      editor,
      await editor.openWindow(copy.path),
      copy.path,
      model,
      close,
    );
    await opened.agent.enableTools();
    await opened.agent.untilCommand(newSession);
    return opened;
  }

  /** Begins a chat. Resolves at the first request to its model. */
  async begin(): Promise<Talk> {
    // The question goes to the chat with the last focus, even in an editor.
    await this.agent.run('workbench.action.closeAllEditors');
    await this.window.evaluate(
      async ({ commands }, command) =>
        void (await commands.executeCommand(command as string, 'sidebar')),
      newSession,
    );
    const talk = this.model.talk();
    await this.say(talk);
    return talk;
  }

  async reload(): Promise<void> {
    await this.window.reload();
    await this.agent.untilCommand(newSession);
  }

  /** Opens a chat with a finished turn, and asks again in it. */
  async goOn(talk: Talk): Promise<void> {
    await this.window.evaluate(
      async ({ commands, Uri }, uri) =>
        void (await commands.executeCommand('vscode.open', Uri.parse(uri as string))),
      `agent-host-copilotcli:/${await this.sessionOf(talk)}`,
    );
    const { page } = this.window;
    await page
      .locator('.part.editor .interactive-response')
      .filter({ hasText: 'DONE' })
      .first()
      .waitFor({ timeout: patience });
    await page.locator('.part.editor .interactive-input-editor').click();
    await this.say(talk);
  }

  /** The toolsets in each update to the agent host. */
  offers(): Readonly<Record<string, OfferedServer>>[] {
    return this.protocol().flatMap((line) => {
      if (!line.includes('"encoding":"base64"')) return [];
      const { result } = JSON.parse(line) as { result?: { data?: string } };
      const text = Buffer.from(result?.data ?? '', 'base64').toString();
      if (!text.includes('"mcpServers"')) return [];
      return [(JSON.parse(text) as { mcpServers: Record<string, OfferedServer> }).mcpServers];
    });
  }

  /** Waits until the agent host has a toolset. */
  async untilOffered(label: string): Promise<void> {
    const isOffered = (): boolean => label in (this.offers().at(-1) ?? {});
    assert.ok(await waitUntil(isOffered, patience), `the agent host was not told of ${label}`);
  }

  /** Waits until a server waits for the person's approval. */
  async untilPending(server: string): Promise<void> {
    await this.window.waitFor(
      ({ languages }) =>
        languages
          .getDiagnostics()
          .flatMap(([, all]) => all)
          .filter(
            ({ code }) => (typeof code === 'object' ? code.value : code) === 'approval-pending',
          )
          .map(({ message }) => message),
      (messages) => messages.some((message) => message.includes(`"${server}"`)),
      patience,
    );
  }

  /** Approves a launch as a person does: in a dialog, or in the title of the review of changes. */
  async approve(server: string): Promise<void> {
    const { page } = this.window;
    await this.window.evaluate(
      ({ commands }, id) => void commands.executeCommand('mcpToolsets.approve', id),
      server,
    );
    const inDialog = page.locator('.monaco-dialog-box').getByRole('button', { name: 'Approve' });
    const approving = inDialog.or(
      page.locator('.editor-actions').getByRole('button', { name: 'Approve What Is Shown' }),
    );
    await approving.click({ timeout: patience });
    await approving.waitFor({ state: 'hidden' });
  }

  /** The message of the problem with this code, once the config file has it. */
  async untilProblem(code: string): Promise<string> {
    const found = await this.window.waitFor(
      ({ languages }) =>
        languages
          .getDiagnostics()
          .flatMap(([, all]) => all)
          .map(({ code, message }) => ({
            code: String(typeof code === 'object' ? code.value : code),
            message,
          })),
      (all) => all.some((one) => one.code === code),
      patience,
    );
    return found.find((one) => one.code === code)?.message ?? '';
  }

  private async say(talk: Talk): Promise<void> {
    await this.window.evaluate(
      async ({ commands }, query) =>
        void (await commands.executeCommand('workbench.action.chat.open', { query })),
      talk.prompt,
    );
    await talk.ready(patience);
  }

  private async sessionOf(talk: Talk): Promise<string> {
    const find = (): string | undefined =>
      this.protocol().flatMap((line) => {
        const [, id] =
          (line.includes(talk.tag) && /"copilotcli:\/([0-9a-f-]{36})/.exec(line)) || [];
        return id === undefined ? [] : [id];
      })[0];
    assert.ok(await waitUntil(() => find() !== undefined, patience), `no session of ${talk.tag}`);
    return find() ?? '';
  }

  /** The lines of the protocol between window and agent host. */
  private protocol(): string[] {
    const logs = join(this.editor.dataDir, 'logs');
    return readdirSync(logs, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.parentPath.endsWith('ahp'))
      .flatMap((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').split('\n'));
  }
}
