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
    if ((view.message ?? '') !== message) view.message = message;
  };
  const messageOf = (): Inert => {
    if (!deps.isRecorded()) return inert`Calls are not recorded, because mcpToolsets.calls is off.`;
    if (rows.filterText === '') return inert``;
    return inert`Filter: ${rows.filterText} · ${rows.found.length} of ${log.all.length}`;
  };
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

  /** The facts that fit the filter, newest first. */
  get found(): readonly NumberedFact[] {
    return this.log.all.filter(({ fact }) => fits(this.filter, fact)).reverse();
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
