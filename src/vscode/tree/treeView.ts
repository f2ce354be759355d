/**
 * Draws the sidebar (spec E3). Rows are those of `treeModel`; a change redraws the servers that changed and nothing
 * else, so that the view neither flickers nor loses what is selected or folded.
 */
import * as vscode from 'vscode';
import { isDeepStrictEqual } from 'node:util';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import type { Clock } from '../../core/base/clock.js';
import { toLocation } from '../diagnostics.js';
import type { EngineSlot, WindowState } from '../engineSlot.js';
import { summary, type StatusSummary } from '../phrases.js';
import { treeModel } from './treeModel.js';
import type { TreeNode } from './treeNode.js';

export const viewId = 'mcpToolsets.servers';

/** Rows of this scheme are drawn grey. */
const dimmedScheme = 'mcp-toolsets-kept-out';

export function showTree(slot: EngineSlot, clock: Clock): Disposable {
  const store = new DisposableStore('tree view');
  const rows = store.add(new ServerRows(clock));
  const view = store.add(vscode.window.createTreeView(viewId, { treeDataProvider: rows, showCollapseAll: true }));
  store.add(vscode.window.registerFileDecorationProvider(dimmed));
  let phase: string | undefined;
  store.add(
    slot.onDidChange((state) => {
      rows.show(state);
      const badge = badgeOf(summary(state.snapshot));
      if (view.badge?.value !== badge?.value || view.badge?.tooltip !== badge?.tooltip) view.badge = badge;
      const message = refusal(state);
      if ((view.message ?? '') !== message) view.message = message;
      if (phase !== state.phase) void vscode.commands.executeCommand('setContext', 'mcpToolsets.phase', state.phase);
      phase = state.phase;
    }),
  );
  return store;
}

function badgeOf({ broken, pending }: StatusSummary): vscode.ViewBadge | undefined {
  if (broken + pending === 0) return undefined;
  const parts = [
    ...(broken > 0 ? [broken === 1 ? '1 problem with MCP servers' : `${broken} problems with MCP servers`] : []),
    ...(pending > 0 ? [pending === 1 ? '1 server waits for approval' : `${pending} servers wait for approval`] : []),
  ];
  return { value: broken + pending, tooltip: parts.join(', ') };
}

/** Empty: nothing to say above the rows. */
function refusal({ phase, snapshot }: WindowState): string {
  if (phase !== 'serving' || snapshot.refused.length === 0) return '';
  const files = snapshot.refused.map(({ file }) => vscode.workspace.asRelativePath(file)).join(', ');
  return `${files} has an error. What stood there before still runs; see Problems.`;
}

/** What the editor knows a row by: it stays the same object while the row's content changes. */
export interface Row {
  node: TreeNode;
}

class ServerRows implements vscode.TreeDataProvider<Row>, Disposable {
  private readonly changes = new vscode.EventEmitter<Row | undefined>();
  private readonly rows = new Map<string, Row>();
  private servers: readonly TreeNode[] = [];

  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly clock: Clock) {}

  show({ phase, snapshot }: WindowState): void {
    const around = {
      now: this.clock.now(),
      fileLabel: (file: string) => vscode.workspace.asRelativePath(file),
      folderLabel: (file: string) => vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file))?.name ?? file,
    };
    const before = this.servers;
    this.servers = phase === 'serving' ? treeModel(snapshot, around) : [];
    this.keepRows();
    const sameServers =
      this.servers.length === before.length && this.servers.every(({ id }, index) => id === before[index]?.id);
    if (!sameServers) {
      this.changes.fire(undefined);
      return;
    }
    this.servers.forEach((node, index) => {
      if (!isDeepStrictEqual(node, before[index])) this.changes.fire(this.rowOf(node));
    });
  }

  getChildren(row?: Row): Row[] {
    return (row ? row.node.children : this.servers).map((node) => this.rowOf(node));
  }

  getTreeItem({ node }: Row): vscode.TreeItem {
    const item = new vscode.TreeItem(node.label, foldings[node.initially]);
    item.id = node.id;
    if (node.description !== '') item.description = node.description;
    item.tooltip = new vscode.MarkdownString(node.tooltip);
    item.iconPath = new vscode.ThemeIcon(
      node.icon.id,
      node.icon.color === undefined ? undefined : new vscode.ThemeColor(node.icon.color),
    );
    item.contextValue = node.context;
    if (node.kind === 'excluded')
      item.resourceUri = vscode.Uri.from({ scheme: dimmedScheme, path: `/${encodeURIComponent(node.id)}` });
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
    scheme === dimmedScheme ? { color: new vscode.ThemeColor('disabledForeground') } : undefined,
};
