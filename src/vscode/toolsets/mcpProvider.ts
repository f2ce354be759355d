/**
 * Offers each toolset to the editor as an MCP server (G1, G3a, G3b, G5). The presenter sees that the editor shows them.
 *
 * Invariants: Definitions are in file order. The version of a definition does not change within a window, because that would
 * stop it, and it differs from that of any other window, because what the editor remembers of those may be outdated. The
 * provider never throws, because one failure takes all definitions away. In an untrusted workspace nothing is offered or
 * started, because starting would open a question to the person.
 */
import * as vscode from 'vscode';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { inert } from '../../core/base/inert.js';
import { asText } from '../../core/base/text.js';
import { window } from '../views/inertEditor.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import type { Clock } from '../../core/base/clock.js';
import type { Log } from '../../core/base/log.js';
import type { Gateway } from '../../core/gateway/gateway.js';
import { toolsForEditor, type Toolset } from '../../core/tools/catalogue.js';
import type { Engine } from '../engine/engine.js';
import { untilHolds, type EngineSlot } from '../engine/engineSlot.js';
import { isBeginning, isStarting, labelsOf } from './labels.js';
import { findRivals } from './rivals.js';
import { Presenter, type Stage } from './presenter.js';

/** The same id stands in `package.json`. */
const providerId = 'mcpToolsets';

interface ProviderDeps {
  readonly slot: EngineSlot;
  readonly clock: Clock;
  readonly log: Log;
  /** The id of the extension, `publisher.name`. */
  readonly extensionId: string;
}

export function offerToolsets(deps: ProviderDeps): Disposable {
  return new ToolsetProvider(deps);
}

/** Changes that are closer to each other than this, in milliseconds, become one announcement. */
const together = 10;

/**
 * The first answer to the editor waits this long for the gateway, in milliseconds. It usually listens within a second; an
 * answer without it would make agent-host sessions forget what they have (G3b).
 */
const firstAnswerLimit = 30_000;

/** The editor looks at its definitions 500 ms after a change, so this long without one, in milliseconds, is noticed. */
const absenceNoticed = 1500;

/** How long the editor is kept waiting for a server that is still starting, in milliseconds. */
const connectPatience = 3000;

class ToolsetProvider implements vscode.McpServerDefinitionProvider<vscode.McpHttpServerDefinition>, Disposable {
  private readonly store = new DisposableStore('toolset provider');
  private readonly ended = new AbortController();
  private readonly changes = this.store.add(new vscode.EventEmitter<void>());
  private readonly version = randomUUID();
  private readonly presenter: Presenter;
  /** The gateway that is listened to. */
  private followed: { readonly gateway: Gateway; readonly listener: Disposable } | undefined;
  private saidFailure = false;
  /** URL and headers of the definitions that the editor has. */
  private address: string | undefined;
  /** The labels in file order; those that are leaving come last. */
  private announced: readonly string[] = [];
  /** The labels that are kept only because calls are still in flight. */
  private leaving: readonly string[] = [];
  private readonly withheld = new Set<string>();
  private announcement: Disposable | undefined;

  readonly onDidChangeMcpServerDefinitions = this.changes.event;

  constructor(private readonly deps: ProviderDeps) {
    const { slot, clock, log } = deps;
    this.presenter = this.store.add(new Presenter({ clock, log, stage: this.stage(), onChange: () => slot.refresh() }));
    slot.observe(() => this.presenter.problems());
    this.store.add(slot.onDidLoad((engine) => this.follow(engine)));
    this.store.add({ dispose: () => this.followed?.listener.dispose() });
    this.store.add(
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('chat')) this.presenter.tryAgain();
      }),
    );
    this.register();
  }

  async provideMcpServerDefinitions(): Promise<vscode.McpHttpServerDefinition[]> {
    // The first answer replaces what the editor remembers of the last window; an empty one would take those tools away
    // until the files are read.
    await untilHolds(this.deps, () => !this.isBeginning(), firstAnswerLimit, this.ended.signal);
    const labels = this.announced.filter((label) => !this.withheld.has(label));
    const definitions = labels.flatMap((label) => this.definitionOf(label) ?? []);
    this.presenter.noteTaken(definitions.map(({ label }) => label));
    return definitions;
  }

  /** Called before each connection, also for a definition that the editor remembers from another window. */
  async resolveMcpServerDefinition({
    label,
  }: vscode.McpHttpServerDefinition): Promise<vscode.McpHttpServerDefinition | undefined> {
    const isThere = (): boolean => this.presented().some(({ id }) => id === label);
    const mayCome = (): boolean => {
      const server = this.deps.slot.engine?.host.snapshot.servers.find(({ id }) => id === label);
      return server ? isStarting(server) : this.isBeginning();
    };
    await untilHolds(this.deps, () => isThere() || !mayCome(), connectPatience, this.ended.signal);
    // If nothing comes, the gateway says why, and the editor forgets the tools that it remembers.
    return isThere() || (this.announced.includes(label) && !mayCome()) ? this.definitionOf(label) : undefined;
  }

  dispose(): void {
    this.ended.abort();
    this.announcement?.dispose();
    this.store.dispose();
  }

  /** Registers the provider. In an editor that cannot take definitions, everything else still works (S2). */
  private register(): void {
    try {
      this.store.add(vscode.lm.registerMcpServerDefinitionProvider(providerId, this));
    } catch (error) {
      this.deps.log.write('error', `This editor takes no MCP servers from extensions: ${asText(error)}`);
    }
  }

  private follow({ editorEndpoint, host }: Engine): void {
    const { slot } = this.deps;
    this.store.add(editorEndpoint.onDidChange(() => this.take()));
    this.store.add(host.onDidChangeCatalogue(() => this.expect()));
    this.store.add(slot.onDidChange(() => this.announce()));
    this.take();
  }

  /** Takes over the gateway that listens now: the first one, or the one that a renewed token has made. */
  private take(): void {
    const { slot, log } = this.deps;
    const { gateway, followed } = this;
    const { state } = slot.engine?.editorEndpoint ?? { state: undefined };
    if (state?.kind === 'failed' && !this.saidFailure) {
      this.saidFailure = true;
      log.write('error', `The gateway did not start, so no agent sees a tool: ${state.reason}`);
      void window.showErrorMessage(inert`MCP Toolsets cannot offer its tools: ${state.reason}`);
    }
    if (gateway === followed?.gateway) return slot.refresh();
    followed?.listener.dispose();
    const listener = gateway?.onDidChangeActivity((toolset) => {
      this.presenter.noteActivity(toolset);
      if (this.leaving.includes(toolset)) this.announce();
    });
    this.followed = gateway && listener && { gateway, listener };
    if (!gateway) return slot.refresh();
    this.announce();
    slot.refresh();
    this.expect();
    if (this.address !== undefined && this.address !== this.addressOf(gateway)) {
      // The definitions are others now, so the editor ends what it has of the old ones.
      this.changes.fire();
      this.presenter.beginAgain();
    }
    this.address = this.addressOf(gateway);
  }

  /** Announces the toolsets that come and go. A change within a toolset reaches the editor over its session. */
  private announce(): void {
    const { gateway, announced } = this;
    const { engine } = this.deps.slot;
    if (!engine || !gateway || !vscode.workspace.isTrusted) return;
    const labels = labelsOf(engine.host.snapshot, engine.host.catalogue.toolsets);
    // Taking a definition away ends the editor's calls; those in flight finish first (R4). The gateway no longer
    // lists tools for them.
    this.leaving = announced.filter(
      (label) => !labels.includes(label) && gateway.activityOf(label, 'editor').callsInFlight > 0,
    );
    this.announced = [...labels, ...this.leaving];
    if (isDeepStrictEqual(this.announced, announced)) return;
    this.deps.log.write('debug', `Announced to the editor: ${this.announced.join(', ') || 'nothing'}`);
    this.announcement ??= this.deps.clock.after(together, () => {
      this.announcement = undefined;
      this.changes.fire();
    });
  }

  private expect(): void {
    this.presenter.expect(this.presented());
  }

  private isBeginning(): boolean {
    const { state, engine } = this.deps.slot;
    return isBeginning(state.phase, engine?.editorEndpoint.state);
  }

  private get gateway(): Gateway | undefined {
    return this.deps.slot.engine?.editorEndpoint.gateway;
  }

  private addressOf(gateway: Gateway): string {
    return JSON.stringify(gateway.endpoint('', 'editor'));
  }

  private presented(): Toolset[] {
    const { engine } = this.deps.slot;
    if (!engine || !this.gateway || !vscode.workspace.isTrusted) return [];
    return engine.host.catalogue.toolsets.filter((toolset) => toolsForEditor(toolset).length > 0);
  }

  private definitionOf(label: string): vscode.McpHttpServerDefinition | undefined {
    if (!this.gateway) return undefined;
    const { url, headers } = this.gateway.endpoint(label, 'editor');
    return new vscode.McpHttpServerDefinition(label, vscode.Uri.parse(url, true), { ...headers }, this.version);
  }

  private stage(): Stage {
    const { slot, extensionId } = this.deps;
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
      renew: (label) => {
        this.withheld.add(label);
        this.changes.fire();
        const offerAgain = (): void => {
          this.withheld.delete(label);
          this.changes.fire();
        };
        this.store.add(this.deps.clock.after(absenceNoticed, offerAgain));
      },
      placeOf: (server) => slot.engine?.host.snapshot.servers.find(({ id }) => id === server)?.place,
    };
  }
}

function switchedOff(): string | undefined {
  const chat = vscode.workspace.getConfiguration('chat');
  if (chat.get('mcp.access') === 'none') return '"chat.mcp.access" is "none"';
  if (chat.get('customizations.strictPluginOnlyCustomization') === true) {
    return '"chat.customizations.strictPluginOnlyCustomization" is true';
  }
  if (chat.get('agent.enabled') === false) return '"chat.agent.enabled" is false';
  if (chat.get('disableAIFeatures') === true) return '"chat.disableAIFeatures" is true';
  return undefined;
}
