/**
 * Draws the sidebar (E3). It redraws only changed rows, so the view keeps its selection and
 * folding.
 */
import { said } from '../../../core/base/language.js';
import * as vscode from 'vscode';
import { inert, type Inert } from '../../../core/base/inert.js';
import type { Clock } from '../../../core/base/clock.js';
import { asText } from '../../../core/base/text.js';
import { serves } from '../../../core/reconcile/shortfall.js';
import type { WindowState } from '../../engine/engineSlot.js';
import { isAllowedByName } from '../../engine/settings.js';
import type { Shell } from '../../engine/shell.js';
import { commands, tell, window } from '../inertEditor.js';
import { areChangesForMe, asTimePasses, setContext, treeItem } from '../trees.js';
import { isAboutUnused, isPending } from '../serverStates.js';
import { fileLabel, folderLabel, toLocation } from '../places.js';
import { DelayedAnswers } from './delayedAnswers.js';
import { treeModel } from './serverRows.js';
import { changedRows, unfoldedRows, type TreeNode, type TreeOptions } from './treeNode.js';
import { badgeOf, sidebarMessage } from '../phrases.js';
import { needsAttention } from '../../../core/base/problem.js';

export const viewId = 'mcpToolsets.servers';
const switchKey = 'changesForMe';

export function showTree({ slot, clock, titles, context }: Shell): vscode.Disposable {
  const rows = new ServerRows(clock, titles.of, (server) => slot.engine?.use.of(server));
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
      const [[, state] = []] = items;
      const command = state === ticks.true ? 'publishTool' : 'keepOutTool';
      const changed = items.map(([row]) => row);
      await vscode.commands.executeCommand(`mcpToolsets.${command}`, changed[0], changed);
      // Until a redraw, the editor shows the ticks of the click.
      rows.redraw(changed);
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
      const opened = rows.show(state);
      // The editor keeps the folding of a known row. A hidden view would come into sight.
      if (view.visible)
        for (const row of opened) void view.reveal(row, { select: false, expand: true });
      const badge = badgeOf(state.snapshot);
      if (view.badge?.value !== badge?.value || view.badge?.tooltip !== badge?.tooltip)
        view.badge = badge;
      const message = sidebarMessage(state, fileLabel);
      if ((view.message ?? '') !== message) view.message = message;
      const { servers, problems } = state.snapshot;
      setContext('pending', servers.some(isPending));
      setContext(
        'changed',
        servers.some(({ changedOffers }) => changedOffers.length > 0),
      );
      setContext('problems', problems.some(needsAttention));
      setContext('unused', problems.some(isAboutUnused));
      setContext('serves', servers.some(serves));
      setContext('phase', state.phase);
    }),
    asTimePasses(clock, () => view.visible && rows.show(slot.state)),
    showSwitch(view, slot, context.workspaceState, rows),
  );
}

/** The switch between the layer and the files below it (C7). The title says which is on. */
function showSwitch(
  view: { description?: Inert | undefined },
  slot: Shell['slot'],
  memory: vscode.Memento,
  rows: ServerRows,
): vscode.Disposable {
  const describe = (): void => {
    const text = areChangesForMe() ? said`only for me` : said`for everyone`;
    view.description = slot.state.phase === 'serving' ? inert`${text}` : undefined;
  };
  const switchTo = async (isForMe: boolean): Promise<void> => {
    setContext(switchKey, isForMe);
    describe();
    rows.show(slot.state);
    await memory.update(switchKey, isForMe);
  };
  setContext(switchKey, memory.get(switchKey) === true);
  return vscode.Disposable.from(
    commands({
      changesForMe: () => switchTo(true),
      changesForEveryone: () => switchTo(false),
    }),
    slot.onDidChange(describe),
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
  private readonly opened = new Set<string>();

  constructor(
    private readonly clock: Clock,
    private readonly titleOf: TreeOptions['titleOf'],
    private readonly useOf: TreeOptions['useOf'],
  ) {}

  /** Returns the servers whose rows unfold for the first time. */
  show({ phase, snapshot }: WindowState): Row[] {
    const options: TreeOptions = {
      now: this.clock.now(),
      onlyWithProblems: this.onlyWithProblems,
      changesForMe: areChangesForMe(),
      titleOf: this.titleOf,
      useOf: this.useOf,
      isAllowed: isAllowedByName(),
      fileLabel,
      folderLabel,
    };
    const before = this.servers;
    this.servers = phase === 'serving' ? treeModel(snapshot, options) : [];
    // Without a redraw, rows change too, because a person may unfold them later.
    this.rows = new Map(
      allOf(this.servers).map((node) => [node.id, Object.assign(this.rowOf(node), { node })]),
    );
    const opened = unfoldedRows(before, this.servers, this.opened);
    if (!this.top.setKnown(phase !== 'reading')) {
      const changed = changedRows(before, this.servers);
      if (changed) changed.forEach((node) => this.changes.fire(this.rowOf(node)));
      else this.changes.fire(undefined);
    }
    return opened.map((node) => this.rowOf(node));
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
    if (node.ticked !== undefined) item.checkboxState = tickBox(node.ticked);
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

function tickBox(ticked: boolean): NonNullable<vscode.TreeItem['checkboxState']> {
  const label = said`Agents see it`;
  return {
    state: ticks[`${ticked}`],
    tooltip: label,
    accessibilityInformation: { label },
  };
}

function commandOf({ kind, place, server, name, chat }: TreeNode): vscode.Command | undefined {
  if (kind === 'problem' && place) {
    const { uri, range } = toLocation(place);
    return {
      command: 'vscode.open',
      title: said`Go to Problem`,
      arguments: [uri, { selection: range }],
    };
  }
  if (kind === 'tool')
    return {
      command: 'mcpToolsets.tryTool',
      title: said`Try Tool`,
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
    title: said`Open Conversation`,
    arguments: [uri],
  };
}
