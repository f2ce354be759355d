/**
 * Shows `MCP 3/4` in the status bar while there is a config file. A click opens the review if
 * something waits, else *Manage Server…*.
 */
import * as vscode from 'vscode';
import type { CommandName } from '../../../build/commands.js';
import type { Clock } from '../../core/base/clock.js';
import { Icon, inert } from '../../core/base/inert.js';
import type { StatusSnapshot } from '../../core/reconcile/status.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { panelString, window } from './inertEditor.js';
import { summary, type Severity } from './phrases.js';

export function showStatusBar(slot: EngineSlot, clock: Clock): vscode.Disposable {
  const item = window.createStatusBarItem(
    'mcpToolsets.status',
    vscode.StatusBarAlignment.Right,
    90,
  );
  item.name = inert`MCP Toolsets`;
  let shown = '';
  const showPanel = async (snapshot: StatusSnapshot): Promise<void> => {
    const { panelCommands, statusPanel } = await import('./statusPanel.js');
    const panel = statusPanel(snapshot, slot.engine?.recorder.lastCall, clock.now());
    // A new hover closes the open one.
    if (panel.value !== shown) item.tooltip = panelString(panel, panelCommands);
    shown = panel.value;
  };
  const listening = slot.onDidChange(({ phase, snapshot }) => {
    if (phase !== 'serving') return item.hide();
    const { text, tooltip, severity, pending, changed } = summary(snapshot);
    const { icon, background } = looks[severity];
    item.text = icon ? inert`${icon} ${text}` : inert`${text}`;
    item.command = `mcpToolsets.${commandFor(pending, changed)}`;
    item.backgroundColor = background === undefined ? undefined : new vscode.ThemeColor(background);
    item.accessibilityInformation = { label: inert`MCP Toolsets, ${text}. ${tooltip}` };
    item.show();
    void showPanel(snapshot);
  });
  return vscode.Disposable.from(item, listening);
}

function commandFor(pending: number, changed: number): CommandName {
  if (pending > 0) return 'reviewPending';
  return changed > 0 ? 'acceptTools' : 'manageServer';
}

const looks: Readonly<Record<Severity, { readonly icon?: Icon; readonly background?: string }>> = {
  ok: {},
  busy: { icon: new Icon('loading~spin') },
  pending: { icon: new Icon('shield'), background: 'statusBarItem.warningBackground' },
  warning: { icon: new Icon('warning'), background: 'statusBarItem.warningBackground' },
  error: { icon: new Icon('error'), background: 'statusBarItem.errorBackground' },
};
