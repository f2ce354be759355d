/**
 * The view *Calls* and its commands: what agents did on this folder, live. It reads the file that all programs of the folder
 * share, while it is visible. What went in and out comes from the engine of this window.
 */
import * as vscode from 'vscode';
import type { Clock } from '../../../core/base/clock.js';
import { DisposableStore, toDisposable, type Disposable } from '../../../core/base/disposables.js';
import { inert, type Inert } from '../../../core/base/inert.js';
import { isObject } from '../../../core/base/isObject.js';
import { makePrivateFile } from '../../../core/base/privateFile.js';
import { jsonLines } from '../../../core/base/text.js';
import { callCommand } from '../../../core/calls/command.js';
import { isCall, type CallFact, type Fact } from '../../../core/calls/fact.js';
import { FactLog, type NumberedFact } from '../../../core/calls/factLog.js';
import { fits, parseFilter, type FactFilter } from '../../../core/calls/filter.js';
import { clearCalls, followCalls, mostFacts } from '../../../core/files/callFile.js';
import type { ConversationTitles } from '../../engine/conversationTitles.js';
import type { EngineSlot } from '../../engine/engineSlot.js';
import { command, window } from '../inertEditor.js';
import { asTimePasses, setContext, treeItem } from '../trees.js';
import type { CallPages } from './callPages.js';
import { callRows, rowsBelow, type CallGrouping, type CallRow, type CallRowOptions } from './callRows.js';

const viewId = 'mcpToolsets.calls';

/** So many rows are seen without scrolling. */
const newest = 20;

interface CallsViewDeps {
  readonly slot: EngineSlot;
  readonly clock: Clock;
  readonly pages: CallPages;
  /** The file of the record; undefined if no folder is open. */
  readonly file: string | undefined;
  readonly titles: Pick<ConversationTitles, 'of' | 'onDidChange'>;
  readonly isRecorded: () => boolean;
  readonly onDidChangeRecorded: (listener: () => void) => Disposable;
}

export function showCalls(deps: CallsViewDeps): Disposable {
  const { clock, titles, file } = deps;
  const store = new DisposableStore('calls view');
  const log = new FactLog(mostFacts);
  const rows = store.add(new CallRows(log, () => ({ now: clock.now(), titleOf: titles.of })));
  const view = store.add(window.createTreeView(viewId, { treeDataProvider: rows, showCollapseAll: true }));
  let following: ReturnType<typeof followCalls> | undefined;
  const follow = (): void => {
    const isWanted = view.visible && file !== undefined;
    if (isWanted && !following) {
      // The view may have missed a part of the file since it was last visible.
      log.take([], true);
      following = followCalls(file, clock, (lines, isWhole) => {
        log.take(lines, isWhole);
        show();
      });
    } else if (!isWanted) {
      following?.dispose();
      following = undefined;
    }
  };
  const show = (): void => {
    rows.show();
    setContext('callsWait', rows.waiting > 0);
    const message = messageOf();
    if ((view.message ?? '') !== message) view.message = message;
  };
  const messageOf = (): Inert => {
    if (!deps.isRecorded()) return inert`Calls are not recorded, because mcpToolsets.calls is off.`;
    const { filterText, waiting } = rows;
    return inert`${[
      ...(filterText === '' ? [] : [`Filter: ${filterText} · ${rows.found.length} of ${log.all.length}`]),
      ...(waiting === 0
        ? []
        : [`${waiting} new ${waiting === 1 ? 'row waits' : 'rows wait'} while an older one is selected`]),
    ].join(' · ')}`;
  };
  // The editor does not keep the place of a tree whose first rows are new, and tells nobody how far it is scrolled.
  const hold = (isHeld: boolean): void => {
    rows.hold(isHeld);
    show();
  };
  store.add(view.onDidChangeSelection(({ selection }) => hold(selection.some((row) => rows.isOlder(row)))));
  store.add(command('showNewCalls', () => hold(false)));
  store.add(view.onDidChangeVisibility(follow));
  store.add(titles.onDidChange(() => view.visible && rows.show()));
  store.add(deps.onDidChangeRecorded(show));
  store.add(toDisposable(() => following?.dispose()));
  store.add(asTimePasses(clock, () => view.visible && log.all.length > 0 && rows.show()));
  setContext('callGrouping', rows.grouping);
  for (const grouping of ['time', 'conversation', 'server'] as const) {
    store.add(
      command(`callsBy${grouping[0]?.toUpperCase()}${grouping.slice(1)}`, () => {
        rows.grouping = grouping;
        setContext('callGrouping', grouping);
        show();
      }),
    );
  }
  const filterBy = (text: string): void => {
    rows.filterBy(text);
    setContext('callsFiltered', text !== '');
    show();
  };
  store.add(command('clearCallFilter', () => filterBy('')));
  store.add(
    command('filterCalls', async () => {
      const text = await window.showInputBox({
        title: inert`Filter Calls`,
        prompt: inert`Words, such as tool:read, agent:codex, server:files, slow:2s or failed. All have to fit.`,
        value: rows.filterText,
        validateInput: (typed) => {
          const read = parseFilter(typed);
          return typeof read === 'string' ? inert`${read}` : undefined;
        },
      });
      if (text !== undefined) filterBy(text.trim());
    }),
  );
  store.add(registerCommandsOfCalls(deps));
  store.add(
    command('exportCalls', async () => {
      const lines = jsonLines(rows.found.map(({ fact }) => fact));
      const uri = await window.showSaveDialog({
        title: inert`Export Calls`,
        filters: { 'JSON Lines': ['jsonl'] },
      });
      if (uri) await makePrivateFile(uri.fsPath, lines);
    }),
  );
  store.add(
    command('clearCalls', async () => {
      if (file === undefined) return;
      const clear = 'Clear';
      const detail = inert`The record is shared by all programs that serve this folder. Exported files stay.`;
      const question = inert`Remove the record of calls of this folder?`;
      if ((await window.showWarningMessage(question, { modal: true, detail }, clear)) !== clear) return;
      deps.slot.engine?.recorder.contents.clear();
      await clearCalls(file, clock);
      await following?.readNow();
    }),
  );
  follow();
  show();
  return store;
}

function registerCommandsOfCalls({ slot, pages }: CallsViewDeps): Disposable {
  const store = new DisposableStore('call commands');
  const register = (name: string, run: (fact: CallFact) => Promise<void>): void => {
    store.add(
      command(name, async (row: unknown) => {
        const fact = factOf(row);
        if (fact && isCall(fact)) await run(fact);
      }),
    );
  };
  const contentOf = (fact: CallFact) => slot.engine?.recorder.contents.get(fact);
  const argumentsOf = (fact: CallFact): Readonly<Record<string, unknown>> | undefined => {
    const given = contentOf(fact)?.given;
    return isObject(given) ? given : undefined;
  };
  register('showCall', async (fact) => {
    const uri = pages.add(fact, contentOf(fact), (text) => slot.engine?.redact(text) ?? text);
    await vscode.commands.executeCommand('vscode.open', uri, { preview: true });
  });
  register('tryCallAgain', async (fact) => {
    await vscode.commands.executeCommand('mcpToolsets.tryTool', fact.toolset, fact.tool, argumentsOf(fact) ?? {});
  });
  register('copyCallAsCommand', async (fact) => {
    const given = argumentsOf(fact);
    await vscode.env.clipboard.writeText(callCommand(fact.tool, given ?? {}, process.platform));
    if (!given) {
      void window.showInformationMessage(
        inert`The command has no arguments, because those of this call are not kept in this window.`,
      );
    }
  });
  store.add(
    command('showCallInstance', async (row: unknown) => {
      const fact = factOf(row);
      if (fact?.instance === undefined) return;
      if (slot.engine?.recorder.isOwn(fact))
        await vscode.commands.executeCommand('mcpToolsets.revealInstance', fact.toolset, fact.instance);
      else void window.showInformationMessage(inert`Another program or an earlier window has started this instance.`);
    }),
  );
  return store;
}

/** Another extension may run a command with any argument. */
function factOf(row: unknown): Fact | undefined {
  const fact = isObject(row) ? row['fact'] : undefined;
  return isObject(fact) && typeof fact['id'] === 'string' ? (fact as unknown as Fact) : undefined;
}

class CallRows implements vscode.TreeDataProvider<CallRow>, Disposable {
  private readonly changes = new vscode.EventEmitter<CallRow | undefined>();
  private filter: FactFilter = {};
  filterText = '';
  /** The last fact that is shown; undefined if all are. */
  private heldAt: number | undefined;
  grouping: CallGrouping = 'time';

  readonly onDidChangeTreeData = this.changes.event;

  constructor(
    private readonly log: FactLog,
    private readonly options: () => Omit<CallRowOptions, 'grouping'>,
  ) {}

  filterBy(text: string): void {
    const read = parseFilter(text);
    this.filter = typeof read === 'string' ? {} : read;
    this.filterText = text;
  }

  /** The shown facts, newest first. */
  get found(): readonly NumberedFact[] {
    return this.fitting.filter(({ number }) => number <= (this.heldAt ?? number)).reverse();
  }

  get waiting(): number {
    const { heldAt } = this;
    return heldAt === undefined ? 0 : this.fitting.filter(({ number }) => number > heldAt).length;
  }

  private get fitting(): NumberedFact[] {
    return this.log.all.filter(({ fact }) => fits(this.filter, fact));
  }

  /** Tells whether somebody who selected the row has probably scrolled to it. */
  isOlder({ fact, below }: CallRow): boolean {
    return below !== undefined || !this.found.slice(0, newest).some((one) => one.fact.id === fact?.id);
  }

  /** @param isHeld true if new facts wait */
  hold(isHeld: boolean): void {
    this.heldAt = isHeld ? (this.heldAt ?? this.log.all.at(-1)?.number ?? -1) : undefined;
  }

  show(): void {
    this.changes.fire(undefined);
  }

  getChildren(row?: CallRow): CallRow[] {
    const options = { ...this.options(), grouping: this.grouping };
    return row ? rowsBelow(row, options) : callRows(this.found, options);
  }

  getTreeItem(row: CallRow): vscode.TreeItem {
    const { Collapsed, None } = vscode.TreeItemCollapsibleState;
    const item = treeItem(row, row.below ? Collapsed : None);
    if (row.context.startsWith('call')) {
      item.command = { command: 'mcpToolsets.showCall', title: 'Show Call', arguments: [row] };
    }
    return item;
  }

  dispose(): void {
    this.changes.dispose();
  }
}
