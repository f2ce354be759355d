/** Reads the settings `mcpToolsets.*`. Each use reads them again, so a change counts at once. */
import * as vscode from 'vscode';
import { effectiveLists, endpointPortOf, permissionsByScope, type EndpointPort } from './settingScopes.js';
import type { Disposable } from '../../core/base/disposables.js';

const section = 'mcpToolsets';

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
  return onDidChangeAny([`${section}.${setting}`], run);
}

export function onDidChangeServerLists(run: () => void): Disposable {
  return onDidChangeAny(['chat.mcp.allowedServers', 'chat.mcp.deniedServers', 'chat.mcp.allowManagedServersOnly'], run);
}

function onDidChangeAny(settings: readonly string[], run: () => void): Disposable {
  return vscode.workspace.onDidChangeConfiguration((change) => {
    if (settings.some((setting) => change.affectsConfiguration(setting))) run();
  });
}

function settings(folder?: vscode.Uri): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(section, folder);
}

/** Returns the usual number for a value that is not a whole number or too small. */
function wholeNumber(setting: string, usual: number, least: number): number {
  const value = settings().get<number>(setting, usual);
  return Number.isInteger(value) && value >= least ? value : usual;
}

export const trace = (): boolean => settings().get('trace', false);
export const maxInstances = (): number => wholeNumber('maxInstances', 32, 1);
export const maxResultBytes = (): number => wholeNumber('maxResultBytes', 2 ** 20, 1024);
export const maxSteps = (): number => wholeNumber('minds.maxSteps', 25, 1);
export const usualStart = (): 'window' | 'call' => (settings().get('start') === 'call' ? 'call' : 'window');
export const recordsCalls = (): boolean => settings().get('calls') !== 'off';
export const offersAdmin = (): boolean => settings().get('adminTools', true);
export const holdsChangedTools = (): boolean => settings().get('changedTools') === 'hold';
/** The setting has the scope of the application, so no workspace can answer for the person (S1). */
export const asksForApproval = (): boolean => settings().get('approval') !== 'trustedWorkspace';

/** Returns bytes (V3). */
export function artifactsQuota(): number {
  const value = settings().get<number>('artifactsQuota', 200);
  return (Number.isFinite(value) && value >= 0 ? value : 200) * 2 ** 20;
}

const severities = ['hint', 'information', 'warning', 'off'] as const;

export function filteredTools(): (typeof severities)[number] {
  const value = settings().get<string>('problems.filteredTools');
  return severities.find((severity) => severity === value) ?? 'hint';
}

export function serverLists(): { readonly allowed: unknown; readonly denied: unknown } {
  const chat = vscode.workspace.getConfiguration('chat.mcp');
  return effectiveLists({
    allowed: { value: chat.get('allowedServers'), ...chat.inspect('allowedServers') },
    denied: { value: chat.get('deniedServers'), ...chat.inspect('deniedServers') },
    managedOnly: chat.get('allowManagedServersOnly') === true,
  });
}

/** One value for each scope (S4), because the editor's merged value would let a workspace loosen the person's setting. */
export function toolPermissions(): readonly unknown[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return permissionsByScope(
    settings().inspect('toolPermissions'),
    folders.map(({ uri }) => settings(uri).inspect('toolPermissions')),
  );
}

export async function setToolPermissions(value: unknown): Promise<void> {
  await settings().update('toolPermissions', value, vscode.ConfigurationTarget.Global);
}

export function endpointPort(chosen: unknown): EndpointPort {
  return endpointPortOf(settings().inspect('endpoint.port'), chosen);
}
