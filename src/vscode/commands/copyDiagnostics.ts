/** *Copy Diagnostics*: collects the facts of the editor for a bug report. Loaded on demand. */
import * as vscode from 'vscode';
import { homedir } from 'node:os';
import { inert } from '../../core/base/inert.js';
import { window } from '../views/inertEditor.js';
import { Redactor } from '../../core/base/log.js';
import { bugReport } from './bugReport.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { Logs } from '../engine/logs.js';

export interface Manifest {
  readonly version: string;
  readonly contributes: { readonly configuration: { readonly properties: Readonly<Record<string, unknown>> } };
}

export async function copyDiagnostics(slot: EngineSlot, logs: Logs, manifest: Manifest): Promise<void> {
  await vscode.env.clipboard.writeText(report(slot, logs, manifest));
  void window.showInformationMessage(
    inert`The diagnostics are in the clipboard. They leave out secrets and the values of env and headers, but read them before you post them.`,
  );
}

function report(slot: EngineSlot, logs: Logs, manifest: Manifest): string {
  const redactor = new Redactor();
  return bugReport({
    versions: [
      ['MCP Toolsets', manifest.version],
      [vscode.env.appName, `${vscode.version}, ${vscode.env.appHost}`],
      ['Remote', vscode.env.remoteName ?? 'none'],
      ['System', `${process.platform} ${process.arch}, Node ${process.version}`],
      ['Trusted workspace', String(vscode.workspace.isTrusted)],
      ['Workspace folders', String(vscode.workspace.workspaceFolders?.length ?? 0)],
    ],
    settings: changedSettings(Object.keys(manifest.contributes.configuration.properties)),
    phase: slot.state.phase,
    sources: slot.sources,
    snapshot: slot.state.snapshot,
    logs: logs.recent(),
    redact: (text) => slot.engine?.redact(text) ?? redactor.redact(text),
    home: homedir(),
    fileLabel: (file) => vscode.workspace.asRelativePath(file),
  });
}

function changedSettings(names: readonly string[]): [string, unknown][] {
  const configuration = vscode.workspace.getConfiguration();
  return names.flatMap((name): [string, unknown][] => {
    const value = configuration.get<unknown>(name);
    return JSON.stringify(value) === JSON.stringify(configuration.inspect(name)?.defaultValue) ? [] : [[name, value]];
  });
}
