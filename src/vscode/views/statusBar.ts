/** Shows `MCP 3/4` in the status bar while there is a config file. A click opens the sidebar. */
import * as vscode from 'vscode';
import { Icon, inert, inertLines } from '../../core/base/inert.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { window } from './inertEditor.js';
import { summary, type Severity } from './phrases.js';

export function showStatusBar(slot: EngineSlot): vscode.Disposable {
  const item = window.createStatusBarItem(
    'mcpToolsets.status',
    vscode.StatusBarAlignment.Right,
    90,
  );
  item.name = inert`MCP Toolsets`;
  item.command = 'mcpToolsets.servers.focus';
  const listening = slot.onDidChange(({ phase, snapshot }) => {
    if (phase !== 'serving') return item.hide();
    const { text, tooltip, severity } = summary(snapshot);
    const { icon, background } = looks[severity];
    item.text = icon ? inert`${icon} ${text}` : inert`${text}`;
    item.tooltip = inertLines(tooltip);
    item.backgroundColor = background === undefined ? undefined : new vscode.ThemeColor(background);
    item.accessibilityInformation = { label: inert`MCP Toolsets, ${text}. ${tooltip}` };
    item.show();
  });
  return vscode.Disposable.from(item, listening);
}

const looks: Readonly<Record<Severity, { readonly icon?: Icon; readonly background?: string }>> = {
  ok: {},
  busy: { icon: new Icon('loading~spin') },
  pending: { icon: new Icon('shield'), background: 'statusBarItem.warningBackground' },
  warning: { icon: new Icon('warning'), background: 'statusBarItem.warningBackground' },
  error: { icon: new Icon('error'), background: 'statusBarItem.errorBackground' },
};
