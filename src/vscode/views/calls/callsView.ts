/**
 * The view *Calls*: what agents did on this folder, live. It reads the file that all programs of the folder share, while it is
 * visible. What went in and out comes from the engine of this window.
 */
import * as vscode from 'vscode';
import { DisposableStore, toDisposable, type Disposable } from '../../../core/base/disposables.js';
import { inert, type Inert } from '../../../core/base/inert.js';
import { FactLog, type NumberedFact } from '../../../core/calls/factLog.js';
import { fits, parseFilter, type FactFilter } from '../../../core/calls/filter.js';
import { followCalls, mostFacts } from '../../../core/files/callFile.js';
import type { ConversationTitles } from '../../engine/conversationTitles.js';
import { command, window } from '../inertEditor.js';
import { asTimePasses, setContext, treeItem } from '../trees.js';
import { registerCallCommands, type CallCommandDeps } from './callCommands.js';
import { callRows, rowsBelow, type CallGrouping, type CallRow, type CallRowOptions } from './callRows.js';

const viewId = 'mcpToolsets.calls';

/** So many rows are seen without scrolling. */
const newest = 20;

interface CallsViewDeps extends CallCommandDeps {
  readonly titles: Pick<ConversationTitles, 'of' | 'onDidChange'>;
  readonly isRecorded: () => boolean;
  readonly onDidChangeRecorded: (listener: () => void) => Disposable;
}

export function showCalls(deps: CallsViewDeps): Disposable {
  const { clock, titles, file } = deps;
  const store = new DisposableStore('calls view');
  const log = new FactLog(mostFacts);
  const rows = store.add(
    new CallRows(log, (): Omit<CallRowOptions, 'grouping'> => ({ now: clock.now(), titleOf: titles.of })),
  );
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
    const message = messageOf();
    if ((view.message ?? '') === message) return;
    view.message = message;
    setContext('callsWait', rows.waiting > 0);
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
  store.add(vscode.commands.registerCommand('mcpToolsets.showNewCalls', () => hold(false)));
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
    rows.filterText = text;
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
  store.add(
    registerCallCommands(deps, { shown: () => rows.found.map(({ fact }) => fact), reread: () => following?.readNow() }),
  );
  follow();
  show();
  return store;
}

class CallRows implements vscode.TreeDataProvider<CallRow>, Disposable {
  private readonly changes = new vscode.EventEmitter<CallRow | undefined>();
  private filter: FactFilter = {};
  private text = '';
  /** The last fact that is shown; undefined if all are. */
  private heldAt: number | undefined;
  grouping: CallGrouping = 'time';

  readonly onDidChangeTreeData = this.changes.event;

  constructor(
    private readonly log: FactLog,
    private readonly options: () => Omit<CallRowOptions, 'grouping'>,
  ) {}

  get filterText(): string {
    return this.text;
  }

  set filterText(text: string) {
    const read = parseFilter(text);
    this.filter = typeof read === 'string' ? {} : read;
    this.text = text;
  }

  /** The shown facts, newest first. */
  get found(): readonly NumberedFact[] {
    return this.fitting.filter(({ number }) => number <= (this.heldAt ?? number)).reverse();
  }

  /** The number of facts that are not shown yet. */
  get waiting(): number {
    return this.fitting.filter(({ number }) => number > (this.heldAt ?? number)).length;
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
