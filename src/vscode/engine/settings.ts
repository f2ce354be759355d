/** Reads the settings `mcpToolsets.*`. They are read where they are used, so that a change counts at once. */
import * as vscode from 'vscode';
import { effectiveLists } from './managedLists.js';
import { endpointPortOf, permissionsByScope, type EndpointPort, type SettingValues } from './permissionScopes.js';
import type { Disposable } from '../../core/base/disposables.js';

const section = 'mcpToolsets';
const usualMaxResultBytes = 2 ** 20;

type Setting =
  | 'adminTools'
  | 'approval'
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

/** Returns whether the messages exchanged with servers are written to their logs. */
export function trace(): boolean {
  return vscode.workspace.getConfiguration(section).get('trace', false);
}

/** Returns how many instances may live at once (L2). */
export function maxInstances(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('maxInstances', 32);
  return Number.isInteger(value) && value > 0 ? value : 32;
}

/** Returns when servers start whose entry does not say it (P8). */
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
 * Returns whether a person wants to be asked before a server of the workspace starts (S1). The setting has the scope of the
 * application, so that neither a workspace nor the dev container it describes can answer for the person.
 */
export function asksForApproval(): boolean {
  return vscode.workspace.getConfiguration(section).get<string>('approval') !== 'trustedWorkspace';
}

const severities = ['hint', 'information', 'warning', 'off'] as const;

/** Returns how tools that a list keeps out are reported (N2). */
export function filteredTools(): (typeof severities)[number] {
  const value = vscode.workspace.getConfiguration(section).get<string>('problems.filteredTools');
  return severities.find((severity) => severity === value) ?? 'hint';
}

/**
 * Returns what agents may do with tools (S4). The value of every scope is returned, because the strictest one counts, and
 * the editor's own merging would let a workspace loosen what the person set.
 */
export function toolPermissions(): readonly unknown[] {
  const valuesFor = (folder?: vscode.Uri): SettingValues | undefined =>
    vscode.workspace.getConfiguration(section, folder).inspect('toolPermissions');
  return permissionsByScope(
    valuesFor(),
    (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => valuesFor(uri)),
  );
}

/** Writes the person's own value of that setting. */
export async function setToolPermissions(value: unknown): Promise<void> {
  const { Global } = vscode.ConfigurationTarget;
  await vscode.workspace.getConfiguration(section).update('toolPermissions', value, Global);
}

/** Returns whether agents see the tools of `mcp_admin` (L5). */
export function offersAdmin(): boolean {
  return vscode.workspace.getConfiguration(section).get('adminTools', true);
}

/** Returns whether a tool that changed after its server was approved is kept from agents (S3). */
export function holdsChangedTools(): boolean {
  return vscode.workspace.getConfiguration(section).get<string>('changedTools') === 'hold';
}

/** Returns the port on which agents outside the editor find the toolsets (G6). @param chosen see `endpointPortOf` */
export function endpointPort(chosen: unknown): EndpointPort {
  return endpointPortOf(vscode.workspace.getConfiguration(section).inspect('endpoint.port'), chosen);
}
