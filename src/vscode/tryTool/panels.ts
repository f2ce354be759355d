/**
 * The panels of *Try Tool*, one for each tool, with the documents of their arguments, and the
 * panels of apps.
 */
import { said, translated } from '../../core/base/language.js';
import type { Fields } from '../../core/base/isObject.js';
import * as vscode from 'vscode';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { randomBytes, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { inert } from '../../core/base/inert.js';
import { messageOf } from '../../core/base/text.js';
import { window } from '../views/inertEditor.js';
import { readAppPage, type AppPage } from '../../core/apps/appResource.js';
import { framePage, type Marked } from '../../core/apps/framePage.js';
import { appOf } from '../../core/apps/toolMeta.js';
import type { OpenedApp } from '../../core/calling/conversationTools.js';
import { policies } from '../../core/protocol/clientPolicy.js';
import type { OtherOutcome, ToolOutcome } from '../../core/protocol/request.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { ServedTool } from '../../core/tools/catalogue.js';
import type {
  KeptTrial,
  ToPage,
  ToPanel,
  TrialOutcome,
  TriedTool,
} from '../../webview/messages.js';
import { effects } from '../views/phrases.js';
import { AppBridge } from './appBridge.js';
import { ArgumentDocuments } from './argumentDocuments.js';
import { newTrialConversation } from '../engine/conversationTitles.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { Shell } from '../engine/shell.js';
import { version } from '../../../package.json';

interface TrialPanelDeps extends TryToolDeps {
  readonly documents: ArgumentDocuments;
  readonly server: string;
  readonly published: string;
  readonly onEnd: () => void;
  readonly given?: Fields | undefined;
  /** The panel and its arguments before a reload of the window. */
  readonly kept?: { readonly panel: vscode.WebviewPanel; readonly document: string | undefined };
}

export type TryToolDeps = Pick<Shell, 'slot' | 'context'>;

export class Panels implements vscode.Disposable {
  private readonly documents = new ArgumentDocuments();
  private readonly open = new Map<string, TrialPanel>();
  private readonly apps = new Set<AppPanel>();

  constructor(private readonly deps: TryToolDeps) {}

  show({ id }: ServerStatus, { published }: ServedTool, given: TrialPanelDeps['given']): void {
    const existing = this.open.get(keyOf(id, published));
    if (existing) existing.reveal(given);
    else
      this.add({
        server: id,
        published,
        given,
      });
  }

  async revive(panel: vscode.WebviewPanel, kept: KeptTrial | undefined): Promise<void> {
    await this.documents.closeLost();
    if (!kept || this.open.has(keyOf(kept.server, kept.published))) panel.dispose();
    else
      this.add({
        server: kept.server,
        published: kept.published,
        kept: { panel, document: kept.document },
      });
  }

  private add(trial: Pick<TrialPanelDeps, 'server' | 'published' | 'kept' | 'given'>): void {
    const key = keyOf(trial.server, trial.published);
    const onEnd = (): void => void this.open.delete(key);
    this.open.set(
      key,
      new TrialPanel({
        ...this.deps,
        ...trial,
        documents: this.documents,
        onEnd,
      }),
    );
  }

  showApp(app: OpenedApp): Promise<string | undefined> {
    const panel: AppPanel = new AppPanel(this.deps.slot, () => this.apps.delete(panel));
    this.apps.add(panel);
    return panel.show(app);
  }

  dispose(): void {
    for (const panel of [...this.apps, ...this.open.values()]) panel.dispose();
    this.documents.dispose();
  }
}

const beside = { viewColumn: vscode.ViewColumn.Beside };

/** It makes one call at a time. The call and the lease end with the panel. */
class TrialPanel implements vscode.Disposable {
  private readonly listening: vscode.Disposable;
  private readonly conversation = newTrialConversation();
  private readonly panel: vscode.WebviewPanel;
  private readonly document: vscode.Uri;
  private shown: TriedTool | undefined;
  private call: AbortController | undefined;
  private last: Fields | undefined;
  private app: AppPanel | undefined;
  private ended = false;

  constructor(private readonly deps: TrialPanelDeps) {
    const { published, slot, documents, kept } = deps;
    const { extensionUri } = deps.context;
    this.document = documents.newUri(published);
    if (kept?.document !== undefined) documents.restore(this.document, kept.document);
    const roots = ['media', 'dist'].map((folder) => vscode.Uri.joinPath(extensionUri, folder));
    // Hidden behind another tab, it keeps input and result.
    const options = {
      enableScripts: true,
      localResourceRoots: roots,
      retainContextWhenHidden: true,
    };
    const { Active } = vscode.ViewColumn;
    this.panel =
      kept?.panel ??
      window.createWebviewPanel('mcpToolsets.tryTool', inert`${published}`, Active, options);
    this.panel.webview.options = options;
    const icon = (theme: string): vscode.Uri =>
      vscode.Uri.joinPath(extensionUri, 'media', `tool-${theme}.svg`);
    this.panel.iconPath = { light: icon('light'), dark: icon('dark') };
    this.panel.onDidDispose(() => this.dispose());
    this.panel.webview.onDidReceiveMessage((message: ToPanel) => void this.receive(message));
    this.listening = vscode.Disposable.from(
      slot.onDidChange(() => this.follow()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.toString() === this.document.toString()) this.sendDocument(document);
      }),
    );
    this.panel.webview.html = page(this.panel.webview, extensionUri);
  }

  reveal(given: TrialPanelDeps['given']): void {
    this.panel.reveal();
    this.fill(given);
  }

  dispose(): void {
    if (this.ended) return;
    this.ended = true;
    this.call?.abort();
    this.app?.dispose();
    this.listening.dispose();
    this.panel.dispose();
    this.deps.documents.forget(this.document);
    this.deps.onEnd();
    // If the server is gone, so is the lease.
    void this.deps.slot.engine?.host
      .release(this.deps.server, this.conversation)
      .catch(() => undefined);
  }

  private async receive(message: ToPanel): Promise<void> {
    switch (message.kind) {
      case 'ready':
        this.shown = undefined;
        this.follow();
        if (this.shown) this.fill(this.deps.given);
        else this.refuse(said`The server ${this.deps.server} does not offer this tool now.`);
        return;
      case 'run':
        return this.run(message.arguments);
      case 'runDocument': {
        const given = await this.deps.documents.read(this.document).catch((error: Error) => error);
        if (given instanceof Error)
          return this.refuse(said`The document is not valid yet: ${given.message}`);
        return this.run(given);
      }
      case 'cancel':
        return this.call?.abort();
      case 'openDocument':
        this.deps.documents.prepare(
          this.document,
          this.find()?.tool.tool.inputSchema ?? {},
          message.arguments,
        );
        return this.sendDocument(
          (await vscode.window.showTextDocument(this.document, beside)).document,
        );
      case 'copy':
        return vscode.env.clipboard.writeText(message.text);
      case 'openResult': {
        // The editor would fetch the address in this key.
        const content = JSON.stringify({ ...this.last, $schema: undefined }, undefined, 2);
        const document = await vscode.workspace.openTextDocument({ language: 'json', content });
        await vscode.window.showTextDocument(document, beside);
      }
    }
  }

  private follow(): void {
    const found = this.find();
    if (!found) return;
    const tool = triedTool(found.server, found.tool);
    if (isDeepStrictEqual(tool, this.shown)) return;
    this.send({
      kind: 'tool',
      tool,
      changed: this.shown !== undefined,
    });
    this.shown = tool;
  }

  private fill(given: TrialPanelDeps['given']): void {
    if (!given) return;
    this.deps.documents.forget(this.document);
    this.send({ kind: 'fill', arguments: given as Extract<ToPage, { kind: 'fill' }>['arguments'] });
  }

  private find(): { server: ServerStatus; tool: ServedTool } | undefined {
    const server = this.deps.slot.serverOf(this.deps.server);
    const tool = server?.tools.find(({ published }) => published === this.deps.published);
    return server && tool ? { server, tool } : undefined;
  }

  private async run(given: Fields): Promise<void> {
    const host = this.deps.slot.engine?.host;
    if (this.call || this.ended) return;
    if (!host) return this.refuse(said`No MCP server runs in this window.`);
    const call = new AbortController();
    this.call = call;
    this.send({ kind: 'started' });
    const begun = Date.now();
    const ended = (outcome: TrialOutcome): void =>
      this.send({
        kind: 'ended',
        outcome,
        ms: Date.now() - begun,
      });
    const { server, published } = this.deps;
    let result: CallToolResult | undefined;
    try {
      const outcome = await host.call({
        toolset: server,
        tool: published,
        arguments: given,
        conversation: this.conversation,
        policy: policies.tryTool,
        // *Run* is the answer to `ask` for the shown tool. A denied tool stays denied (S4).
        ...(this.shown && { consented: this.shown.original }),
        signal: call.signal,
        onProgress: (progress) => this.send({ kind: 'progress', ...progress }),
      });
      const isAnswered = outcome.kind === 'result' && !outcome.unanswered;
      result = isAnswered ? outcome.result : undefined;
      this.last = result;
      ended(trialOutcome(outcome));
    } catch (error) {
      ended({
        kind: 'error',
        message: messageOf(error),
        detail: '',
      });
    } finally {
      this.call = undefined;
    }
    if (result) await this.showApp(given, result);
  }

  private async showApp(given: Fields, result: CallToolResult): Promise<void> {
    const tool = this.find()?.tool;
    if (!tool || appOf(tool.tool) === undefined || this.ended) return;
    this.app ??= new AppPanel(this.deps.slot, () => (this.app = undefined));
    const { server: toolset } = this.deps;
    const wrong = await this.app.show({
      toolset,
      tool,
      conversation: this.conversation,
      arguments: given,
      result,
    });
    // After another call, the message would be about an older result.
    if (this.last === result && !this.call)
      this.send({ kind: 'app', ...(wrong !== undefined && { wrong }) });
  }

  private refuse(reason: string): void {
    this.send({ kind: 'refused', reason });
  }

  private sendDocument(document: vscode.TextDocument): void {
    this.send({ kind: 'document', text: document.getText() });
  }

  private send(message: ToPage): void {
    if (!this.ended) void this.panel.webview.postMessage(message);
  }
}

function triedTool(
  server: ServerStatus,
  { tool, published, original, override }: ServedTool,
): TriedTool {
  const { offered } = override ?? {};
  return {
    server: server.id,
    published,
    original,
    title: tool.annotations?.title ?? tool.title ?? '',
    description: tool.description ?? '',
    inputSchema: tool.inputSchema,
    ...(offered && {
      offered: { description: offered.description ?? '', inputSchema: offered.inputSchema },
    }),
    effects: effects(tool),
    instance:
      server.trulyStateless === true
        ? said`Calls run on the instance that all conversations share.`
        : said`Calls run on an instance for this panel only. It ends when you close the panel.`,
  };
}

function trialOutcome(outcome: ToolOutcome): TrialOutcome {
  if (outcome.kind === 'cancelled') return outcome;
  if (outcome.kind === 'error') {
    const detail = outcome.data === undefined ? '' : JSON.stringify(outcome.data, undefined, 2);
    return {
      kind: 'error',
      message: `${translated(outcome.message)} (${outcome.code})`,
      detail,
    };
  }
  if (!outcome.unanswered) return { kind: 'result', result: outcome.result };
  const [part] = outcome.result.content;
  return {
    kind: 'error',
    message: part?.type === 'text' ? part.text.replace(/^Error: /, '') : '',
    detail: '',
  };
}

function page(webview: vscode.Webview, extensionUri: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64url');
  const uri = (...path: string[]): string =>
    String(webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, ...path)));
  const policy = `default-src 'none'; img-src data:; media-src data:; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!doctype html>
<html lang="${vscode.env.language}">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="stylesheet" href="${uri('media', 'tryTool.css')}" />
    <title>${said`Try Tool`}</title>
  </head>
  <body data-texts="${inAttribute(JSON.stringify(vscode.l10n.bundle ?? null))}">
    <script nonce="${nonce}" src="${uri('dist', 'webview', 'tryTool.js')}"></script>
  </body>
</html>`;
}

function inAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}

function keyOf(server: string, published: string): string {
  return JSON.stringify([server, published]);
}

/**
 * Shows the app of a result in a tab beside it (G8g). The app is a frame that `framePage` isolates.
 */
class AppPanel implements vscode.Disposable {
  private readonly listening = vscode.window.onDidChangeActiveColorTheme(() =>
    this.bridge?.themeChanged(),
  );
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
      {
        enableScripts: true,
        enableCommandUris: false,
        retainContextWhenHidden: true,
        localResourceRoots: [],
      },
    );
    this.panel.onDidDispose(() => this.dispose());
    this.panel.webview.onDidReceiveMessage((received: Partial<Marked> | undefined) => {
      // A message of a replaced page may arrive late.
      if (received?.page === this.mark) this.bridge?.receive(received.message);
    });
  }

  /**
   * Replaces the app. Resolves to undefined when it is shown, or to a phrase with the reason. Never
   * rejects.
   */
  async show(app: OpenedApp): Promise<string | undefined> {
    this.bridge?.dispose();
    this.bridge = undefined;
    this.panel.webview.html = '';
    this.panel.title = inert`${app.tool.published}`;
    this.latest = app;
    const page = await this.read(app).catch((error: unknown) => ({ wrong: messageOf(error) }));
    if (this.ending.signal.aborted) return said`its tab was closed`;
    if (this.latest !== app) return said`another took its place`;
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
    if (uri === undefined) return { wrong: said`it is no longer served` };
    const outcome = await this.request(app, uri, this.ending.signal, 'any');
    if (outcome.kind === 'result') return readAppPage(uri, outcome.result['contents']);
    return { wrong: outcome.kind === 'error' ? outcome.message : said`reading it was cancelled` };
  }

  private async request(
    { toolset, conversation }: OpenedApp,
    uri: string,
    signal: AbortSignal,
    instance: 'any' | 'held',
  ): Promise<OtherOutcome> {
    const request = {
      toolset,
      conversation,
      method: 'resources/read',
      params: { uri },
      signal,
      instance,
    };
    return (await this.slot.engine?.backend.request(request)) ?? gone;
  }

  private bridgeOf(app: OpenedApp): AppBridge {
    const { toolset, tool, conversation, arguments: given, result } = app;
    const { mark } = this;
    const own = {
      toolset,
      conversation,
      policy: policies.app,
      fromApp: true,
      instance: 'held',
    } as const;
    return new AppBridge({
      tool: { ...tool.tool },
      arguments: given,
      result: { ...result },
      productVersion: version,
      theme: () => (darkThemes.includes(vscode.window.activeColorTheme.kind) ? 'dark' : 'light'),
      call: async (name, args, signal) =>
        (await this.slot.engine?.host.call({
          ...own,
          tool: name,
          arguments: args,
          signal,
        })) ?? gone,
      read: (uri, signal) => this.request(app, uri, signal, 'held'),
      send: (message) =>
        void this.panel.webview.postMessage({ page: mark, message } satisfies Marked),
    });
  }
}

const darkThemes = [vscode.ColorThemeKind.Dark, vscode.ColorThemeKind.HighContrast];
const gone = {
  kind: 'error',
  code: -32_000,
  message: 'No MCP server runs in this window.',
} as const;
