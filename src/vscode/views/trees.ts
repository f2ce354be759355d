import * as vscode from 'vscode';
import type { Clock } from '../../core/base/clock.js';
import { toDisposable, type Disposable } from '../../core/base/disposables.js';
import type { Inert, Markdown } from '../../core/base/inert.js';
import { markdownString, TreeItem } from './inertEditor.js';
import type { ViewIcon } from './serverStates.js';

export interface ShownRow {
  readonly id: string;
  readonly label: Inert;
  readonly description: Inert;
  /**
   * A screen reader says this in place of label and description. It includes the meaning of the
   * icon.
   */
  readonly spoken: Inert;
  readonly tooltip: Markdown;
  readonly icon: ViewIcon;
  /** Words for the conditions of menus, separated by spaces. */
  readonly context: string;
}

export function treeItem(row: ShownRow, folding: vscode.TreeItemCollapsibleState) {
  const { id, label, description, spoken, tooltip, icon, context } = row;
  const item = new TreeItem(label, folding);
  item.id = id;
  if (description !== '') item.description = description;
  item.accessibilityInformation = { label: spoken };
  item.tooltip = markdownString(tooltip);
  item.iconPath = new vscode.ThemeIcon(
    icon.id,
    icon.color ? new vscode.ThemeColor(icon.color) : undefined,
  );
  item.contextValue = context;
  return item;
}

const contexts = new Map<string, unknown>();

/** Sets a variable for the conditions in `package.json`. The editor hears only of changes. */
export function setContext(name: string, value: unknown): void {
  if (contexts.has(name) && contexts.get(name) === value) return;
  contexts.set(name, value);
  void vscode.commands.executeCommand('setContext', `mcpToolsets.${name}`, value);
}

/** True if changes go into the layer (C7). The switch of the sidebar decides. */
export function areChangesForMe(): boolean {
  return contexts.get('changesForMe') === true;
}

/** Runs something every 30 s, for ages. Rows show minutes. */
export function asTimePasses(clock: Clock, run: () => void): Disposable {
  const next = (): Disposable =>
    clock.after(30_000, () => {
      run();
      timer = next();
    });
  let timer = next();
  return toDisposable(() => timer.dispose());
}
