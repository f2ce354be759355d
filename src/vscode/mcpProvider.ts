/**
 * Offers each toolset to the editor as an MCP server of its own (spec G1, G3a, G3b, G5). Which are there is the
 * catalogue's business, and whether the editor shows them the presenter's.
 *
 * Invariants: only toolsets with tools are offered, in file order; the version of a definition does not change within a
 * window, as that would stop it; the provider never throws, because one failure takes all definitions away; an untrusted
 * workspace offers and starts nothing, because starting would open a question to the person.
 */
import * as vscode from 'vscode';
import { createHash } from 'node:crypto';
import { DisposableStore, type Disposable } from '../core/base/disposables.js';
import type { Clock } from '../core/base/clock.js';
import { delay } from '../core/base/clock.js';
import type { Log } from '../core/base/log.js';
import type { Gateway } from '../core/gateway/gateway.js';
import type { Toolset } from '../core/tools/catalogue.js';
import type { Engine } from './engine.js';
import type { EngineSlot } from './engineSlot.js';
import { findRivals } from './rivals.js';
import { Presenter, type Stage } from './presenter.js';
import { PublishGate } from './publishGate.js';

/** As in `package.json`. */
const providerId = 'mcpToolsets';

export interface ProviderOptions {
  readonly slot: EngineSlot;
  readonly clock: Clock;
  readonly log: Log;
  /** `publisher.name`. */
  readonly extensionId: string;
}

export function offerToolsets(options: ProviderOptions): Disposable {
  return new ToolsetProvider(options);
}

/** The first answer to the editor waits this long for the first toolset, in milliseconds. */
const firstAnswerLimit = 5000;

class ToolsetProvider implements vscode.McpServerDefinitionProvider<vscode.McpHttpServerDefinition>, Disposable {
  private readonly store = new DisposableStore('toolset provider');
  private readonly changes = this.store.add(new vscode.EventEmitter<void>());
  private readonly versions = new Map<string, string>();
  private readonly gate: PublishGate;
  private readonly presenter: Presenter;
  private gateway: Gateway | undefined;

  readonly onDidChangeMcpServerDefinitions = this.changes.event;

  constructor(private readonly options: ProviderOptions) {
    const { slot, clock, log } = options;
    this.gate = this.store.add(
      new PublishGate(clock, () => {
        this.changes.fire();
        this.presenter.expect(this.offered());
      }),
    );
    this.presenter = this.store.add(new Presenter({ clock, log, stage: this.stage(), onChange: () => slot.refresh() }));
    slot.observe(() => this.presenter.problems());
    this.store.add(slot.onDidLoad((engine) => void this.follow(engine)));
    this.store.add(
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('chat')) this.presenter.tryAgain();
      }),
    );
    this.store.add(vscode.lm.registerMcpServerDefinitionProvider(providerId, this));
  }

  async provideMcpServerDefinitions(): Promise<vscode.McpHttpServerDefinition[]> {
    await this.firstToolset();
    return this.offered().flatMap((toolset) => this.definitionOf(toolset) ?? []);
  }

  /** Called before each connection, also for a definition that the editor remembers from another window. */
  async resolveMcpServerDefinition(
    definition: vscode.McpHttpServerDefinition,
  ): Promise<vscode.McpHttpServerDefinition | undefined> {
    const toolset = this.offered().find(({ id }) => id === definition.label);
    return toolset && this.definitionOf(toolset);
  }

  dispose(): void {
    this.store.dispose();
  }

  /**
   * The first answer replaces what the editor remembers of the last window; an empty one would take those tools away for
   * the moment until the servers have answered.
   */
  private async firstToolset(): Promise<void> {
    const { slot, clock } = this.options;
    if (this.gateway && this.offered().length > 0) return;
    const loads = slot.state.phase === 'reading' || slot.state.phase === 'serving';
    if (!loads) return;
    const came = new Promise<void>((resolve) => {
      const subscription = this.store.add(
        this.onDidChangeMcpServerDefinitions(() => {
          subscription.dispose();
          resolve();
        }),
      );
    });
    await Promise.race([came, slot.settled, delay(clock, firstAnswerLimit)]);
  }

  private async follow(engine: Engine): Promise<void> {
    try {
      this.gateway = await engine.gateway;
    } catch (error) {
      this.options.log.write('error', `The gateway did not start, so no agent sees a tool: ${String(error)}`);
      void vscode.window.showErrorMessage(`MCP Toolsets cannot offer its tools: ${String(error)}`);
      return;
    }
    this.store.add(this.gateway.onDidChangeActivity((toolset) => this.presenter.noteActivity(toolset)));
    this.store.add(engine.host.onDidChangeCatalogue(() => this.announce()));
    this.announce();
  }

  private announce(): void {
    const known = [...this.announced].join('\n');
    this.announced = this.offered().map(({ id }) => id);
    // A change inside a toolset reaches the editor over its session; the list of toolsets stays as it is.
    if (this.announced.join('\n') !== known) this.gate.request();
    else this.presenter.expect(this.offered());
  }

  private announced: readonly string[] = [];

  private offered(): Toolset[] {
    const engine = this.options.slot.engine;
    if (!engine || !this.gateway || !vscode.workspace.isTrusted) return [];
    return engine.host.catalogue.toolsets.filter(({ tools }) => tools.length > 0);
  }

  private definitionOf(toolset: Toolset): vscode.McpHttpServerDefinition | undefined {
    if (!this.gateway) return undefined;
    const { url, headers } = this.gateway.endpoint(toolset.id, 'editor');
    return new vscode.McpHttpServerDefinition(
      toolset.id,
      vscode.Uri.parse(url, true),
      { ...headers },
      this.versionOf(toolset),
    );
  }

  /** Tells the editor whether what it remembers of an earlier window is outdated. */
  private versionOf(toolset: Toolset): string {
    const version = this.versions.get(toolset.id) ?? hashOf(toolset);
    this.versions.set(toolset.id, version);
    return version;
  }

  private stage(): Stage {
    const { slot, extensionId } = this.options;
    return {
      toolNames: () => new Set(vscode.lm.tools.map(({ name }) => name)),
      startServer: async (label) => {
        if (!vscode.workspace.isTrusted) return;
        const server = `${extensionId.toLowerCase()}/${label}`;
        await vscode.commands.executeCommand('workbench.mcp.startServer', server, { waitForLiveTools: true });
      },
      isConnected: (label) => (this.gateway?.activityOf(label, 'editor').listed ?? 0) > 0,
      switchedOff,
      rivals: findRivals,
      placeOf: (server) => slot.engine?.host.snapshot.servers.find(({ id }) => id === server)?.place,
    };
  }
}

function switchedOff(): string | undefined {
  const chat = vscode.workspace.getConfiguration('chat');
  if (chat.get('mcp.access') === 'none') return '"chat.mcp.access" is "none"';
  if (chat.get('disableAIFeatures') === true) return '"chat.disableAIFeatures" is true';
  return undefined;
}

function hashOf({ shortName, tools }: Toolset): string {
  const exposed = tools.map(({ editorName, tool }) => ({ ...tool, name: editorName }));
  return createHash('sha256')
    .update(JSON.stringify([shortName, exposed]))
    .digest('hex')
    .slice(0, 16);
}
