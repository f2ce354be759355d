/** *Copy Diagnostics*: collects the facts of the editor for a bug report. Loaded on demand. */
import * as vscode from 'vscode';
import { isDeepStrictEqual } from 'node:util';
import { homedir } from '../../core/base/home.js';
import { inert } from '../../core/base/inert.js';
import { tell } from '../views/inertEditor.js';
import { Redactor } from '../../core/base/log.js';
import { bugReport } from './bugReport.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import type { Logs } from '../engine/logs.js';

interface Manifest {
  readonly version: string;
  readonly contributes: {
    readonly configuration: { readonly properties: Readonly<Record<string, unknown>> };
  };
}

export async function copyDiagnostics(
  slot: EngineSlot,
  logs: Logs,
  context: vscode.ExtensionContext,
): Promise<void> {
  const manifest = context.extension.packageJSON as Manifest;
  const redactor = new Redactor();
  const configuration = vscode.workspace.getConfiguration();
  const names = Object.keys(manifest.contributes.configuration.properties);
  const report = bugReport({
    versions: [
      ['MCP Toolsets', manifest.version],
      [vscode.env.appName, `${vscode.version}, ${vscode.env.appHost}`],
      ['Remote', vscode.env.remoteName ?? 'none'],
      ['System', `${process.platform} ${process.arch}, Node ${process.version}`],
      ['Trusted workspace', String(vscode.workspace.isTrusted)],
      ['Workspace folders', String(vscode.workspace.workspaceFolders?.length ?? 0)],
    ],
    settings: names
      .map((name) => [name, configuration.get<unknown>(name)] as const)
      .filter(
        ([name, value]) => !isDeepStrictEqual(value, configuration.inspect(name)?.defaultValue),
      ),
    phase: slot.state.phase,
    sources: slot.sources,
    snapshot: slot.state.snapshot,
    logs: logs.recent(),
    redact: (text) => slot.engine?.redact(text) ?? redactor.redact(text),
    home: homedir(),
    fileLabel: (file) => vscode.workspace.asRelativePath(file),
  });
  await vscode.env.clipboard.writeText(report);
  tell(
    inert`The diagnostics are in the clipboard. They leave out secrets and the values of env and headers, but read them before you post them.`,
  );
}
