/**
 * Draws the sidebar (E3). It redraws only changed rows, so the view keeps its selection and
 * folding.
 */
import * as vscode from 'vscode';
import { inert } from '../../../core/base/inert.js';
import type { Clock } from '../../../core/base/clock.js';
import { asText } from '../../../core/base/text.js';
import { serves } from '../../../core/reconcile/shortfall.js';
import type { WindowState } from '../../engine/engineSlot.js';
import type { Shell } from '../../engine/shell.js';
import { commands, orShowFailure, tell, window } from '../inertEditor.js';
import { asTimePasses, setContext, treeItem } from '../trees.js';
import { fileLabel, folderLabel, toLocation } from '../places.js';
import { DelayedAnswers } from './delayedAnswers.js';
import type { TickedRow } from './subject.js';
import { treeModel } from './serverRows.js';
import { changedRows, type TreeNode, type TreeOptions } from './treeNode.js';
import { badgeOf, hasBrokenFile, sidebarMessage } from '../phrases.js';

export const viewId = 'mcpToolsets.servers';

/** @param tick writes the ticks of a person, and resolves when they count */
export function showTree(
  { slot, clock, titles }: Shell,
  tick: (rows: readonly TickedRow[]) => Promise<void>,
): vscode.Disposable {
  const rows = new ServerRows(clock, titles.of);
  const view = window.createTreeView(viewId, {
    treeDataProvider: rows,
    showCollapseAll: true,
    canSelectMany: true,
    manageCheckboxStateManually: true,
  });
  const showOnly = (withProblems: boolean): void => {
    rows.onlyWithProblems = withProblems;
    setContext('onlyWithProblems', withProblems);
    rows.show(slot.state);
  };
  return vscode.Disposable.from(
    view,
    view.onDidChangeCheckboxState(async ({ items }) => {
      const ticked = items.map(([{ node }, state]) => ({ ...node, ticked: state === ticks.true }));
      await orShowFailure(() => tick(ticked));
      // Until a redraw, the editor shows the ticks of the click.
      rows.redraw(items.map(([row]) => row));
    }),
    titles.onDidChange(() => rows.show(slot.state)),
    commands({
      showWithProblems: () => showOnly(true),
      showAll: () => showOnly(false),
      revealInstance: async (server, instance) => {
        const row = rows.instance(server, instance);
        if (row) await view.reveal(row, { select: true, focus: true });
        else tell(inert`This instance has ended.`);
      },
    }),
    slot.onDidChange((state) => {
      rows.show(state);
      const badge = badgeOf(state.snapshot);
      if (view.badge?.value !== badge?.value || view.badge?.tooltip !== badge?.tooltip)
        view.badge = badge;
      const message = sidebarMessage(state, fileLabel);
      if ((view.message ?? '') !== message) view.message = message;
      const { servers } = state.snapshot;
      const isPending = servers.some(({ approval }) => approval.kind === 'pending');
      setContext('broken', hasBrokenFile(state));
      setContext('pending', isPending);
      setContext('serves', servers.some(serves));
      setContext('phase', state.phase);
    }),
    asTimePasses(clock, () => view.visible && rows.show(slot.state)),
  );
}

/** Identifies a row for the editor. Its content may change. */
type Row = { node: TreeNode };

class ServerRows implements vscode.TreeDataProvider<Row> {
  private readonly changes = new vscode.EventEmitter<Row | undefined>();
  private rows: ReadonlyMap<string, Row> = new Map();
  private servers: readonly TreeNode[] = [];
  private readonly top = new DelayedAnswers(() => this.servers.map((node) => this.rowOf(node)));

  readonly onDidChangeTreeData = this.changes.event;

  onlyWithProblems = false;

  constructor(
    private readonly clock: Clock,
    private readonly titleOf: TreeOptions['titleOf'],
  ) {}

  show({ phase, snapshot }: WindowState): void {
    const options: TreeOptions = {
      now: this.clock.now(),
      onlyWithProblems: this.onlyWithProblems,
      titleOf: this.titleOf,
      fileLabel,
      folderLabel,
    };
    const before = this.servers;
    this.servers = phase === 'serving' ? treeModel(snapshot, options) : [];
    // Without a redraw, rows change too, because a person may unfold them later.
    this.rows = new Map(
      allOf(this.servers).map((node) => [node.id, Object.assign(this.rowOf(node), { node })]),
    );
    if (this.top.setKnown(phase !== 'reading')) return;
    const changed = changedRows(before, this.servers);
    if (changed) changed.forEach((node) => this.changes.fire(this.rowOf(node)));
    else this.changes.fire(undefined);
  }

  getChildren(row?: Row): Row[] | Promise<Row[]> {
    return row ? row.node.children.map((node) => this.rowOf(node)) : this.top.ask();
  }

  getParent({ node: { id } }: Row): Row | undefined {
    const parent = allOf(this.servers).find(({ children }) =>
      children.some((child) => child.id === id),
    );
    return parent && this.rowOf(parent);
  }

  instance(server: unknown, instance: unknown): Row | undefined {
    const end = `/instance/${asText(instance)}`;
    const instances = allOf(this.servers).filter(({ kind }) => kind === 'instance');
    const found = instances.find((node) => node.server === server && node.id.endsWith(end));
    return found && this.rowOf(found);
  }

  getTreeItem({ node }: Row): vscode.TreeItem {
    const item = treeItem(node, foldingOf(node));
    if (node.ticked !== undefined) item.checkboxState = ticks[`${node.ticked}`];
    const command = commandOf(node);
    if (command) item.command = command;
    return item;
  }

  redraw(rows: readonly Row[]): void {
    for (const row of rows) if (this.rows.get(row.node.id) === row) this.changes.fire(row);
  }

  private rowOf(node: TreeNode): Row {
    return this.rows.get(node.id) ?? { node };
  }
}

function allOf(nodes: readonly TreeNode[]): TreeNode[] {
  return nodes.flatMap((node) => [node, ...allOf(node.children)]);
}

function foldingOf({ isUnfolded, children }: TreeNode): vscode.TreeItemCollapsibleState {
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  if (isUnfolded) return Expanded;
  return children.length > 0 ? Collapsed : None;
}

const ticks = {
  true: vscode.TreeItemCheckboxState.Checked,
  false: vscode.TreeItemCheckboxState.Unchecked,
};

function commandOf({ kind, place, server, name, chat }: TreeNode): vscode.Command | undefined {
  if (kind === 'problem' && place) {
    const { uri, range } = toLocation(place);
    return {
      command: 'vscode.open',
      title: 'Go to Problem',
      arguments: [uri, { selection: range }],
    };
  }
  if (kind === 'tool')
    return {
      command: 'mcpToolsets.tryTool',
      title: 'Try Tool',
      arguments: [server, name],
    };
  if (chat === undefined) return undefined;
  const path = `/${Buffer.from(chat).toString('base64')}`;
  const uri = vscode.Uri.from({
    scheme: 'vscode-chat-session',
    authority: 'local',
    path,
  });
  return {
    command: 'vscode.open',
    title: 'Open Conversation',
    arguments: [uri],
  };
}
