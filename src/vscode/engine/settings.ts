/** Reads the settings `mcpToolsets.*`. Each use reads them again, so a change counts at once. */
import * as vscode from 'vscode';
import {
  effectiveLists,
  endpointPortOf,
  permissionsByScope,
  type EndpointPort,
  type SettingValues,
} from './settingScopes.js';
import type { Disposable } from '../../core/base/disposables.js';

const section = 'mcpToolsets';
const usualMaxResultBytes = 2 ** 20;

type Setting =
  | 'adminTools'
  | 'approval'
  | 'calls'
  | 'changedTools'
  | 'endpoint.port'
  | 'problems.filteredTools'
  | 'start'
  | 'toolPermissions';

export function onDidChangeSetting(setting: Setting, run: () => void): Disposable {
  return vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration(`${section}.${setting}`)) run();
  });
}

export function trace(): boolean {
  return vscode.workspace.getConfiguration(section).get('trace', false);
}

export function maxInstances(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('maxInstances', 32);
  return Number.isInteger(value) && value > 0 ? value : 32;
}

/** Returns when servers start by default (P8). */
export function usualStart(): 'window' | 'call' {
  return vscode.workspace.getConfiguration(section).get('start') === 'call' ? 'call' : 'window';
}

/** Returns the lists by which an organisation allows and denies MCP servers in the editor (S1). */
export function serverLists(): { readonly allowed: unknown; readonly denied: unknown } {
  const chat = vscode.workspace.getConfiguration('chat.mcp');
  return effectiveLists({
    allowed: { value: chat.get('allowedServers'), ...chat.inspect('allowedServers') },
    denied: { value: chat.get('deniedServers'), ...chat.inspect('deniedServers') },
    managedOnly: chat.get('allowManagedServersOnly') === true,
  });
}

export function onDidChangeServerLists(run: () => void): Disposable {
  const settings = ['chat.mcp.allowedServers', 'chat.mcp.deniedServers', 'chat.mcp.allowManagedServersOnly'];
  return vscode.workspace.onDidChangeConfiguration((change) => {
    if (settings.some((setting) => change.affectsConfiguration(setting))) run();
  });
}

/** Returns how many bytes all files of results may take together (V3). */
export function artifactsQuota(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('artifactsQuota', 200);
  return (Number.isFinite(value) && value >= 0 ? value : 200) * 2 ** 20;
}

/** Returns how many bytes of text one result may have. Longer text goes to a file (V3). */
export function maxResultBytes(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('maxResultBytes', usualMaxResultBytes);
  return Number.isInteger(value) && value >= 1024 ? value : usualMaxResultBytes;
}

/** Returns how many requests `@minds` may send to the model for one question (D1). */
export function maxSteps(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('minds.maxSteps', 25);
  return Number.isInteger(value) && value > 0 ? value : 25;
}

/**
 * True if servers of the workspace need an approval (S1). The setting has the scope of the application, so neither a
 * workspace nor its dev container can answer for the person.
 */
export function asksForApproval(): boolean {
  return vscode.workspace.getConfiguration(section).get<string>('approval') !== 'trustedWorkspace';
}

const severities = ['hint', 'information', 'warning', 'off'] as const;

/** Returns the severity of problems about tools that a list keeps out (N2). */
export function filteredTools(): (typeof severities)[number] {
  const value = vscode.workspace.getConfiguration(section).get<string>('problems.filteredTools');
  return severities.find((severity) => severity === value) ?? 'hint';
}

/**
 * Returns what agents may do with tools (S4), one value for each scope, because the strictest counts. The editor's merged
 * value would let a workspace loosen the person's setting.
 */
export function toolPermissions(): readonly unknown[] {
  const valuesFor = (folder?: vscode.Uri): SettingValues | undefined =>
    vscode.workspace.getConfiguration(section, folder).inspect('toolPermissions');
  return permissionsByScope(
    valuesFor(),
    (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => valuesFor(uri)),
  );
}

/** Writes the person's own value of `toolPermissions`. */
export async function setToolPermissions(value: unknown): Promise<void> {
  const { Global } = vscode.ConfigurationTarget;
  await vscode.workspace.getConfiguration(section).update('toolPermissions', value, Global);
}

/** True if the facts of calls are recorded. */
export function recordsCalls(): boolean {
  return vscode.workspace.getConfiguration(section).get<string>('calls') !== 'off';
}

/** True if agents see the tools of `mcp_admin` (L5). */
export function offersAdmin(): boolean {
  return vscode.workspace.getConfiguration(section).get('adminTools', true);
}

/** True if agents do not get tools that changed after the approval of their server (S3). */
export function holdsChangedTools(): boolean {
  return vscode.workspace.getConfiguration(section).get<string>('changedTools') === 'hold';
}

/** Returns the port on which agents outside the editor find the toolsets (G6). @param chosen see `endpointPortOf` */
export function endpointPort(chosen: unknown): EndpointPort {
  return endpointPortOf(vscode.workspace.getConfiguration(section).inspect('endpoint.port'), chosen);
}
