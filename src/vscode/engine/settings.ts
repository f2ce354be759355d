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

export function usualStart(): 'window' | 'call' {
  return vscode.workspace.getConfiguration(section).get('start') === 'call' ? 'call' : 'window';
}

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

export function artifactsQuota(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('artifactsQuota', 200);
  return (Number.isFinite(value) && value >= 0 ? value : 200) * 2 ** 20;
}

export function maxResultBytes(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('maxResultBytes', usualMaxResultBytes);
  return Number.isInteger(value) && value >= 1024 ? value : usualMaxResultBytes;
}

export function maxSteps(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('minds.maxSteps', 25);
  return Number.isInteger(value) && value > 0 ? value : 25;
}

/** The setting has the scope of the application, so no workspace can answer for the person (S1). */
export function asksForApproval(): boolean {
  return vscode.workspace.getConfiguration(section).get<string>('approval') !== 'trustedWorkspace';
}

const severities = ['hint', 'information', 'warning', 'off'] as const;

export function filteredTools(): (typeof severities)[number] {
  const value = vscode.workspace.getConfiguration(section).get<string>('problems.filteredTools');
  return severities.find((severity) => severity === value) ?? 'hint';
}

/** One value for each scope (S4), because the editor's merged value would let a workspace loosen the person's setting. */
export function toolPermissions(): readonly unknown[] {
  const valuesFor = (folder?: vscode.Uri): SettingValues | undefined =>
    vscode.workspace.getConfiguration(section, folder).inspect('toolPermissions');
  return permissionsByScope(
    valuesFor(),
    (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => valuesFor(uri)),
  );
}

export async function setToolPermissions(value: unknown): Promise<void> {
  const { Global } = vscode.ConfigurationTarget;
  await vscode.workspace.getConfiguration(section).update('toolPermissions', value, Global);
}

export function recordsCalls(): boolean {
  return vscode.workspace.getConfiguration(section).get<string>('calls') !== 'off';
}

export function offersAdmin(): boolean {
  return vscode.workspace.getConfiguration(section).get('adminTools', true);
}

export function holdsChangedTools(): boolean {
  return vscode.workspace.getConfiguration(section).get<string>('changedTools') === 'hold';
}

export function endpointPort(chosen: unknown): EndpointPort {
  return endpointPortOf(vscode.workspace.getConfiguration(section).inspect('endpoint.port'), chosen);
}
