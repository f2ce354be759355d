/**
 * Offers each toolset to the editor as an MCP server (G1, G3j, G5). The presenter makes the
 * editor show them.
 *
 * Invariants: definitions are in file order. The version of a definition is the same in every
 * window, because agent-host sessions outlive a window and would see other servers. The provider
 * never throws, because one failure removes all definitions. An untrusted workspace offers and
 * starts nothing, because a start would ask the person.
 */
import * as vscode from 'vscode';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { inert } from '../../core/base/inert.js';
import { asText } from '../../core/base/text.js';
import { largestConfigFile, readTextFile } from '../../core/base/textFile.js';
import { window } from '../views/inertEditor.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import type { Gateway } from '../../core/gateway/http/gateway.js';
import { toolsForEditor, type Toolset } from '../../core/tools/catalogue.js';
import { localFolders } from '../engine/configFiles.js';
import type { WindowEngine } from '../engine/engine.js';
import { untilHolds } from '../engine/engineSlot.js';
import { onDidChangeSettings } from '../engine/settings.js';
import type { Shell } from '../engine/shell.js';
import { isStarting } from '../views/serverStates.js';
import { version } from '../../../package.json';
import { isBeginning, labelsOf, type Rival } from './presence.js';
import { Presenter, type PresentingEditor } from './presenter.js';

type Definition = vscode.McpHttpServerDefinition;

/** Changes within this time, in milliseconds, become one announcement. */
const together = 10;

/**
 * In milliseconds. Without the gateway, the first answer would make agent-host sessions forget
 * their tools (G3b).
 */
const firstAnswerLimit = 30_000;

/** How long a definition is withheld, in milliseconds. The editor looks 500 ms after a change. */
const absenceNoticed = 1500;

/** How long the editor waits for a server that is starting, in milliseconds. */
const connectPatience = 3000;

export class ToolsetProvider implements vscode.McpServerDefinitionProvider<Definition>, Disposable {
  private readonly store = new DisposableStore('toolset provider');
  private readonly ended = new AbortController();
  private readonly changes = this.store.add(new vscode.EventEmitter<void>());
  private readonly presenter: Presenter;
  private followed: Gateway | undefined;
  private activity: Disposable | undefined;
  private hasShownFailure = false;
  private address: string | undefined;
  /** The labels in file order, and then the leaving ones. */
  private announced: readonly string[] = [];
  /** Labels that stay only until their calls end. */
  private leaving: readonly string[] = [];
  private readonly withheld = new Set<string>();
  private announcement: Disposable | undefined;

  readonly onDidChangeMcpServerDefinitions = this.changes.event;

  constructor(private readonly deps: Shell) {
    const { slot, clock, logs } = deps;
    const log = logs.host;
    this.presenter = this.store.add(
      new Presenter({
        clock,
        log,
        editor: this.editor(),
        onChange: () => slot.refresh(),
      }),
    );
    slot.observe(() => this.presenter.problems());
    this.store.add(slot.onDidLoad((engine) => this.follow(engine)));
    this.store.add({ dispose: () => this.activity?.dispose() });
    this.store.add(onDidChangeSettings(['chat'], () => this.presenter.tryAgain()));
    try {
      this.store.add(vscode.lm.registerMcpServerDefinitionProvider('mcpToolsets', this));
    } catch (error) {
      // In an editor that cannot take definitions, everything else still works (S2).
      log.write('error', `This editor takes no MCP servers from extensions: ${asText(error)}`);
    }
  }

  async provideMcpServerDefinitions(): Promise<Definition[]> {
    // The first answer replaces the tools that the editor remembers. An empty answer would remove
    // them for a while.
    await untilHolds(this.deps, () => !this.isBeginning(), firstAnswerLimit, this.ended.signal);
    const labels = this.announced.filter((label) => !this.withheld.has(label));
    const definitions = labels.flatMap((label) => this.definitionOf(label) ?? []);
    this.presenter.definitionsTaken(definitions.map(({ label }) => label));
    return definitions;
  }

  /** The editor calls this before each connection, even for a definition of another window. */
  async resolveMcpServerDefinition({ label }: Definition): Promise<Definition | undefined> {
    const isThere = (): boolean => this.presented().some(({ id }) => id === label);
    const mayCome = (): boolean => {
      const server = this.deps.slot.engine?.host.snapshot.servers.find(({ id }) => id === label);
      return server ? isStarting(server) : this.isBeginning();
    };
    await untilHolds(this.deps, () => isThere() || !mayCome(), connectPatience, this.ended.signal);
    // For a toolset without tools, the gateway says why, and the editor forgets the remembered
    // tools.
    return isThere() || (this.announced.includes(label) && !mayCome())
      ? this.definitionOf(label)
      : undefined;
  }

  dispose(): void {
    this.ended.abort();
    this.announcement?.dispose();
    this.store.dispose();
  }

  private follow({ editorEndpoint, host }: WindowEngine): void {
    const { slot } = this.deps;
    this.store.add(editorEndpoint.onDidChange(() => this.applyEndpoint()));
    this.store.add(host.onDidPublish(() => this.presenter.expect(this.presented())));
    this.store.add(slot.onDidChange(() => this.announce()));
    this.applyEndpoint();
  }

  private applyEndpoint(): void {
    const { slot, logs } = this.deps;
    const { gateway } = this;
    const state = slot.engine?.editorEndpoint.state;
    if (state?.kind === 'failed' && !this.hasShownFailure) {
      this.hasShownFailure = true;
      logs.host.write(
        'error',
        `The gateway did not start, so no agent sees a tool: ${state.reason}`,
      );
      void window.showErrorMessage(inert`MCP Toolsets cannot offer its tools: ${state.reason}`);
    }
    slot.refresh();
    if (gateway === this.followed) return;
    this.followed = gateway;
    this.activity?.dispose();
    this.activity = gateway?.onDidChangeActivity((toolset) => {
      this.presenter.activityChanged(toolset);
      if (this.leaving.includes(toolset)) this.announce();
    });
    if (!gateway) return;
    this.announce();
    const address = JSON.stringify(gateway.endpoint('', 'editor'));
    if (this.address !== undefined && this.address !== address) {
      // The definitions have changed, so the editor ends its connections.
      this.changes.fire();
      this.presenter.expect([]);
    }
    this.address = address;
    this.presenter.expect(this.presented());
  }

  /**
   * Announces toolsets that come and go. Changes within a toolset reach the editor over its
   * session.
   */
  private announce(): void {
    const { gateway, announced } = this;
    const { engine } = this.deps.slot;
    if (!engine || !gateway || !vscode.workspace.isTrusted) return;
    const labels = labelsOf(engine.host.snapshot, engine.host.catalogue.toolsets);
    // Without its definition, the editor ends its calls, so calls in flight finish first (R4).
    // Until then, the gateway lists no tools for the label.
    this.leaving = announced.filter(
      (label) => !labels.includes(label) && gateway.activityOf(label, 'editor').callsInFlight > 0,
    );
    this.announced = [...labels, ...this.leaving];
    if (isDeepStrictEqual(this.announced, announced)) return;
    this.deps.logs.host.write(
      'debug',
      `Announced to the editor: ${this.announced.join(', ') || 'nothing'}`,
    );
    this.announcement ??= this.deps.clock.after(together, () => {
      this.announcement = undefined;
      this.changes.fire();
    });
  }

  private isBeginning(): boolean {
    const { state, engine } = this.deps.slot;
    return isBeginning(state.phase, engine?.editorEndpoint.state);
  }

  private get gateway(): Gateway | undefined {
    return this.deps.slot.engine?.editorEndpoint.gateway;
  }

  private presented(): Toolset[] {
    const { engine } = this.deps.slot;
    if (!engine || !this.gateway || !vscode.workspace.isTrusted) return [];
    return engine.host.catalogue.toolsets.filter((toolset) => toolsForEditor(toolset).length > 0);
  }

  private definitionOf(label: string): Definition | undefined {
    if (!this.gateway) return undefined;
    const { url, headers } = this.gateway.endpoint(label, 'editor');
    return new vscode.McpHttpServerDefinition(
      label,
      vscode.Uri.parse(url, true),
      { ...headers },
      version,
    );
  }

  private editor(): PresentingEditor {
    const { slot, clock, context } = this.deps;
    return {
      toolNames: () => new Set(vscode.lm.tools.map(({ name }) => name)),
      startServer: async (label) => {
        if (!vscode.workspace.isTrusted) return;
        const server = `${context.extension.id.toLowerCase()}/${label}`;
        await vscode.commands.executeCommand('workbench.mcp.startServer', server, {
          waitForLiveTools: true,
        });
      },
      isConnected: (label) => (this.gateway?.activityOf(label, 'editor').listed ?? 0) > 0,
      switchedOff,
      rivals: rivalsOf,
      renew: (label) => {
        this.withheld.add(label);
        this.changes.fire();
        const again = clock.after(
          absenceNoticed,
          () => this.withheld.delete(label) && this.changes.fire(),
        );
        this.store.add(again);
      },
      placeOf: (server) =>
        slot.engine?.host.snapshot.servers.find(({ id }) => id === server)?.place,
    };
  }
}

/** The files in a workspace folder. An extension cannot read the person's own `mcp.json`. */
const rivalFiles = ['.vscode/mcp.json', '.mcp.json'];

async function rivalsOf(label: string): Promise<Rival[]> {
  const { configuredServers } = await import('./mcpJson.js');
  const paths = localFolders().flatMap(({ uri }) =>
    rivalFiles.map((file) => join(uri.fsPath, file)),
  );
  const found = await Promise.all(
    paths.map(async (file) => {
      const text = await readTextFile(file, largestConfigFile).catch(() => '');
      // The editor ignores case.
      const rivals = configuredServers(text).filter(
        (rival) => rival.label.toLowerCase() === label.toLowerCase(),
      );
      const name = vscode.workspace.asRelativePath(file);
      return rivals.map(({ range, ...rival }): Rival => ({
        ...rival,
        file: name,
        place: { file, range },
      }));
    }),
  );
  return found.flat();
}

/** The settings of `chat` that switch MCP off, and the values that do. */
const switches = [
  ['mcp.access', 'none'],
  ['customizations.strictPluginOnlyCustomization', true],
  ['agent.enabled', false],
  ['disableAIFeatures', true],
] as const;

function switchedOff(): string | undefined {
  const chat = vscode.workspace.getConfiguration('chat');
  const found = switches.find(([key, value]) => chat.get(key) === value);
  return found && `"chat.${found[0]}" is ${JSON.stringify(found[1])}`;
}
