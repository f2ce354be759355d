/** Shows `MCP 3/4` in the status bar while there is a config file. A click opens the sidebar. */
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import { Icon, inert, inertLines } from '../../core/base/inert.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { window } from './inertEditor.js';
import { summary } from './phrases.js';

export function showStatusBar(slot: EngineSlot): Disposable {
  const store = new DisposableStore('status bar');
  const item = store.add(window.createStatusBarItem('mcpToolsets.status', vscode.StatusBarAlignment.Right, 90));
  item.name = inert`MCP Toolsets`;
  item.command = 'mcpToolsets.servers.focus';
  store.add(
    slot.onDidChange(({ phase, snapshot }) => {
      if (phase !== 'serving') {
        item.hide();
        return;
      }
      const { text, tooltip, severity } = summary(snapshot);
      const icon = icons[severity];
      item.text = icon ? inert`${icon} ${text}` : inert`${text}`;
      item.tooltip = inertLines(tooltip);
      const background = backgrounds[severity];
      item.backgroundColor = background === undefined ? undefined : new vscode.ThemeColor(background);
      item.accessibilityInformation = { label: inert`MCP Toolsets, ${text}. ${tooltip}` };
      item.show();
    }),
  );
  return store;
}

const icons = {
  ok: undefined,
  busy: new Icon('loading~spin'),
  pending: new Icon('shield'),
  warning: new Icon('warning'),
  error: new Icon('error'),
} as const;
const backgrounds = {
  ok: undefined,
  busy: undefined,
  pending: 'statusBarItem.warningBackground',
  warning: 'statusBarItem.warningBackground',
  error: 'statusBarItem.errorBackground',
} as const;
