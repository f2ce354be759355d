/**
 * The view *Calls*: what agents did on this folder, live. It reads the file that all programs of the folder share, while it is
 * visible. What went in and out comes from the engine of this window.
 */
import * as vscode from 'vscode';
import { DisposableStore, toDisposable, type Disposable } from '../../../core/base/disposables.js';
import { inert, type Inert } from '../../../core/base/inert.js';
import { FactLog } from '../../../core/calls/factLog.js';
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
  const changes = store.add(new vscode.EventEmitter<undefined>());
  let grouping: CallGrouping = 'time';
  let filterText = '';
  let filter: FactFilter = {};
  /** Returns the facts that fit the filter, newest first. */
  const found = () => log.all.filter(({ fact }) => fits(filter, fact)).reverse();
  const options = (): CallRowOptions => ({ grouping, now: clock.now(), titleOf: titles.of });
  const treeDataProvider: vscode.TreeDataProvider<CallRow> = {
    onDidChangeTreeData: changes.event,
    getChildren: (row) => (row ? rowsBelow(row, options()) : callRows(found(), options())),
    getTreeItem: callItem,
  };
  const view = store.add(window.createTreeView(viewId, { treeDataProvider, showCollapseAll: true }));
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
  const redraw = (): void => changes.fire(undefined);
  const show = (): void => {
    redraw();
    const message = messageOf();
    if ((view.message ?? '') !== message) view.message = message;
  };
  const messageOf = (): Inert => {
    if (!deps.isRecorded()) return inert`Calls are not recorded, because mcpToolsets.calls is off.`;
    if (filterText === '') return inert``;
    return inert`Filter: ${filterText} · ${found().length} of ${log.all.length}`;
  };
  store.add(view.onDidChangeVisibility(follow));
  store.add(titles.onDidChange(() => view.visible && redraw()));
  store.add(deps.onDidChangeRecorded(show));
  store.add(toDisposable(() => following?.dispose()));
  store.add(asTimePasses(clock, () => view.visible && log.all.length > 0 && redraw()));
  setContext('callGrouping', grouping);
  for (const chosen of ['time', 'conversation', 'server'] as const) {
    store.add(
      command(`callsBy${chosen[0]?.toUpperCase()}${chosen.slice(1)}`, () => {
        grouping = chosen;
        setContext('callGrouping', grouping);
        show();
      }),
    );
  }
  const filterBy = (text: string): void => {
    const read = parseFilter(text);
    filter = typeof read === 'string' ? {} : read;
    filterText = text;
    setContext('callsFiltered', text !== '');
    show();
  };
  store.add(command('clearCallFilter', () => filterBy('')));
  store.add(
    command('filterCalls', async () => {
      const text = await window.showInputBox({
        title: inert`Filter Calls`,
        prompt: inert`Words, such as tool:read, agent:codex, server:files, slow:2s or failed. All have to fit.`,
        value: filterText,
        validateInput: (typed) => {
          const read = parseFilter(typed);
          return typeof read === 'string' ? inert`${read}` : undefined;
        },
      });
      if (text !== undefined) filterBy(text.trim());
    }),
  );
  store.add(
    registerCallCommands(deps, { shown: () => found().map(({ fact }) => fact), reread: () => following?.readNow() }),
  );
  follow();
  show();
  return store;
}

function callItem(row: CallRow): vscode.TreeItem {
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = treeItem(row, row.below ? Collapsed : None);
  if (row.context.startsWith('call')) {
    item.command = { command: 'mcpToolsets.showCall', title: 'Show Call', arguments: [row] };
  }
  return item;
}
