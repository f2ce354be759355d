/** Shows the app of a result in a tab beside it (G8g). The app is a frame that `framePage` isolates. */
import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { readAppPage, type AppPage } from '../../core/apps/appResource.js';
import { framePage, type Marked } from '../../core/apps/framePage.js';
import { appOf } from '../../core/apps/toolMeta.js';
import { inert } from '../../core/base/inert.js';
import { messageOf } from '../../core/base/text.js';
import type { OtherOutcome } from '../../core/protocol/request.js';
import type { OpenedApp } from '../../core/host/conversationTools.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { window } from '../views/inertEditor.js';
import { version } from '../../../package.json';
import { AppBridge } from './appBridge.js';

export class AppPanel implements vscode.Disposable {
  private readonly listening = vscode.window.onDidChangeActiveColorTheme(() => this.bridge?.themeChanged());
  private readonly panel: vscode.WebviewPanel;
  private readonly ending = new AbortController();
  private bridge: AppBridge | undefined;
  private latest: OpenedApp | undefined;
  private mark: string = randomUUID();

  constructor(
    private readonly slot: EngineSlot,
    private readonly onEnd: () => void,
  ) {
    this.panel = window.createWebviewPanel(
      'mcpToolsets.app',
      inert`App`,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, enableCommandUris: false, retainContextWhenHidden: true, localResourceRoots: [] },
    );
    this.panel.onDidDispose(() => this.dispose());
    this.panel.webview.onDidReceiveMessage((said: Partial<Marked> | undefined) => {
      // A message of a replaced page may arrive late.
      if (said?.page === this.mark) this.bridge?.receive(said.message);
    });
  }

  /** Replaces the app. Resolves to undefined when it is shown, or to a phrase with the reason. Never rejects. */
  async show(app: OpenedApp): Promise<string | undefined> {
    this.bridge?.dispose();
    this.bridge = undefined;
    this.panel.webview.html = '';
    this.panel.title = inert`${app.tool.published}`;
    this.latest = app;
    const page = await this.read(app).catch((error: unknown) => ({ wrong: messageOf(error) }));
    if (this.ending.signal.aborted) return 'its tab was closed';
    if (this.latest !== app) return 'another took its place';
    if ('wrong' in page) return page.wrong;
    this.mark = randomUUID();
    this.bridge = this.bridgeOf(app);
    const isOfThisMachine = this.slot.serverOf(app.toolset)?.isOfThisMachine === true;
    this.panel.webview.html = framePage(page, { mark: this.mark, isOfThisMachine });
    this.panel.reveal(undefined, true);
    return undefined;
  }

  dispose(): void {
    if (this.ending.signal.aborted) return;
    this.ending.abort();
    this.bridge?.dispose();
    this.listening.dispose();
    this.panel.dispose();
    this.onEnd();
  }

  private async read(app: OpenedApp): Promise<AppPage | { readonly wrong: string }> {
    const uri = appOf(app.tool.tool);
    if (uri === undefined) return { wrong: 'it is no longer served' };
    const outcome = await this.request(app, uri, this.ending.signal, 'any');
    if (outcome.kind === 'result') return readAppPage(uri, outcome.result['contents']);
    return { wrong: outcome.kind === 'error' ? outcome.message : 'reading it was cancelled' };
  }

  private async request(
    { toolset, conversation }: OpenedApp,
    uri: string,
    signal: AbortSignal,
    instance: 'any' | 'held',
  ): Promise<OtherOutcome> {
    const request = { toolset, conversation, method: 'resources/read', params: { uri }, signal, instance };
    return (await this.slot.engine?.request(request)) ?? gone;
  }

  private bridgeOf(app: OpenedApp): AppBridge {
    const { toolset, tool, conversation, arguments: given, result } = app;
    const { mark } = this;
    const own = { toolset, conversation, fromApp: true, instance: 'held' } as const;
    return new AppBridge({
      tool: { ...tool.tool },
      arguments: given,
      result: { ...result },
      productVersion: version,
      theme: () => (darkThemes.includes(vscode.window.activeColorTheme.kind) ? 'dark' : 'light'),
      call: async (name, args, signal) =>
        (await this.slot.engine?.host.call({ ...own, tool: name, arguments: args, signal })) ?? gone,
      read: (uri, signal) => this.request(app, uri, signal, 'held'),
      send: (message) => void this.panel.webview.postMessage({ page: mark, message } satisfies Marked),
    });
  }
}

const darkThemes = [vscode.ColorThemeKind.Dark, vscode.ColorThemeKind.HighContrast];
const gone = { kind: 'error', code: -32_000, message: 'No MCP server runs in this window.' } as const;
