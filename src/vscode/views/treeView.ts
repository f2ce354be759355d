/**
 * Draws the rows of `treeModel` in the sidebar (E3). Only the servers that changed are redrawn, so that the view neither
 * flickers nor forgets what is selected or folded.
 */
import * as vscode from 'vscode';
import { DisposableStore, toDisposable, type Disposable } from '../../core/base/disposables.js';
import { inert } from '../../core/base/inert.js';
import type { Clock } from '../../core/base/clock.js';
import { serves } from '../../core/reconcile/shortfall.js';
import { toLocation } from './diagnostics.js';
import type { EngineSlot, WindowState } from '../engine/engineSlot.js';
import { createTreeView, markdownString, TreeItem } from './inertEditor.js';
import { fileLabel, folderLabel } from './fileLabels.js';
import { HeldAnswers } from './heldAnswers.js';
import { changedRows } from './rowChanges.js';
import { showsAges, treeModel } from './treeModel.js';
import type { TreeNode } from './treeNode.js';
import { badgeOf, isBroken, messageOf } from './viewWords.js';

export const viewId = 'mcpToolsets.servers';

/** Rows with this address are drawn grey. One is enough for all, and has nothing in it that a server says. */
const dimmedUri = vscode.Uri.from({ scheme: 'mcp-toolsets-kept-out', path: '/' });

/** The milliseconds between updates of the ages that are shown to the minute. */
const agesLast = 30_000;

export function showTree(slot: EngineSlot, clock: Clock): Disposable {
  const store = new DisposableStore('tree view');
  const rows = store.add(new ServerRows(clock));
  const view = store.add(createTreeView(viewId, { treeDataProvider: rows, showCollapseAll: true }));
  store.add(vscode.window.registerFileDecorationProvider(dimmed));
  const context = (): ((name: string, value: unknown) => void) => {
    let known: unknown;
    return (name, value) => {
      if (known !== value) void vscode.commands.executeCommand('setContext', `mcpToolsets.${name}`, value);
      known = value;
    };
  };
  const [phase, broken, pending, serving] = [context(), context(), context(), context()];
  store.add(
    slot.onDidChange((state) => {
      rows.show(state);
      const badge = badgeOf(state.snapshot);
      if (view.badge?.value !== badge?.value || view.badge?.tooltip !== badge?.tooltip) view.badge = badge;
      const message = messageOf(state, fileLabel);
      if ((view.message ?? '') !== message) view.message = message;
      broken('broken', isBroken(state));
      pending(
        'pending',
        state.snapshot.servers.some(({ approval }) => approval.kind === 'pending'),
      );
      serving('serves', state.snapshot.servers.some(serves));
      phase('phase', state.phase);
    }),
  );
  let ticking = clock.after(agesLast, tick);
  store.add(toDisposable(() => ticking.dispose()));
  function tick(): void {
    if (view.visible && showsAges(slot.state.snapshot)) rows.show(slot.state);
    ticking = clock.after(agesLast, tick);
  }
  return store;
}

/** The object by which the editor knows a row. It stays the same while the row's content changes. */
interface Row {
  node: TreeNode;
}

class ServerRows implements vscode.TreeDataProvider<Row>, Disposable {
  private readonly changes = new vscode.EventEmitter<Row | undefined>();
  private readonly rows = new Map<string, Row>();
  private servers: readonly TreeNode[] = [];
  private readonly top = new HeldAnswers(() => this.servers.map((node) => this.rowOf(node)));

  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly clock: Clock) {}

  show({ phase, snapshot }: WindowState): void {
    const options = {
      now: this.clock.now(),
      fileLabel: onceEach(fileLabel),
      folderLabel: onceEach(folderLabel),
    };
    const before = this.servers;
    this.servers = phase === 'serving' ? treeModel(snapshot, options) : [];
    this.keepRows();
    if (this.top.become(phase !== 'reading')) return;
    const changed = changedRows(before, this.servers);
    if (changed) changed.forEach((node) => this.changes.fire(this.rowOf(node)));
    else this.changes.fire(undefined);
  }

  getChildren(row?: Row): Row[] | Promise<Row[]> {
    return row ? row.node.children.map((node) => this.rowOf(node)) : this.top.ask();
  }

  getTreeItem({ node }: Row): vscode.TreeItem {
    const item = new TreeItem(node.label, foldings[node.initially]);
    item.id = node.id;
    if (node.description !== '') item.description = node.description;
    item.accessibilityInformation = { label: node.spoken ?? inert`${node.label} ${node.description}` };
    item.tooltip = markdownString(node.tooltip);
    item.iconPath = new vscode.ThemeIcon(
      node.icon.id,
      node.icon.color === undefined ? undefined : new vscode.ThemeColor(node.icon.color),
    );
    item.contextValue = node.context;
    if (node.kind === 'excluded') item.resourceUri = dimmedUri;
    if (node.kind === 'problem' && node.place) {
      const { uri, range } = toLocation(node.place);
      item.command = { command: 'vscode.open', title: 'Go to Problem', arguments: [uri, { selection: range }] };
    }
    return item;
  }

  dispose(): void {
    this.changes.dispose();
  }

  private rowOf(node: TreeNode): Row {
    const row = this.rows.get(node.id) ?? { node };
    row.node = node;
    this.rows.set(node.id, row);
    return row;
  }

  private keepRows(): void {
    const present = new Set<string>();
    const visit = (node: TreeNode): void => {
      present.add(node.id);
      // This happens even if nothing is redrawn, so that a row that is unfolded later shows what is true then.
      const row = this.rows.get(node.id);
      if (row) row.node = node;
      node.children.forEach(visit);
    };
    this.servers.forEach(visit);
    for (const id of this.rows.keys()) if (!present.has(id)) this.rows.delete(id);
  }
}

const foldings = {
  leaf: vscode.TreeItemCollapsibleState.None,
  collapsed: vscode.TreeItemCollapsibleState.Collapsed,
  expanded: vscode.TreeItemCollapsibleState.Expanded,
};

const dimmed: vscode.FileDecorationProvider = {
  provideFileDecoration: ({ scheme }) =>
    scheme === dimmedUri.scheme ? { color: new vscode.ThemeColor('descriptionForeground') } : undefined,
};

/** Asks for each file once, because an answer may look at the disk. */
function onceEach(label: (file: string) => string): (file: string) => string {
  const known = new Map<string, string>();
  return (file) => {
    const found = known.get(file) ?? label(file);
    known.set(file, found);
    return found;
  };
}
