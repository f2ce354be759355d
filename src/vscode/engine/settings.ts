/** Reads the settings `mcpToolsets.*`. A change counts at once. */
import * as vscode from 'vscode';
import type manifest from '../../../package.json';
import {
  effectiveLists,
  endpointPortOf,
  permissionsByScope,
  type EndpointPort,
} from './settingScopes.js';
import { asFields } from '../../core/base/isObject.js';
import type { HostSettings } from '../../core/host/hostDeps.js';

const section = 'mcpToolsets';

type Own = keyof (typeof manifest)['contributes']['configuration']['properties'];
type Setting = Own | 'chat' | 'chat.mcp' | 'extensions.supportAgentsWindow';

export function onDidChangeSettings(names: readonly Setting[], run: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((change) => {
    if (names.some((name) => change.affectsConfiguration(name))) run();
  });
}

let ofWindow: vscode.WorkspaceConfiguration | undefined;

/**
 * Has to subscribe before other readers. A call reads four settings, and the editor takes longer
 * for one than we for the record (P11).
 */
export function keepSettings(): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration(() => (ofWindow = undefined));
}

function settings(folder?: vscode.Uri): vscode.WorkspaceConfiguration {
  if (folder) return vscode.workspace.getConfiguration(section, folder);
  return (ofWindow ??= vscode.workspace.getConfiguration(section));
}

function wholeNumber(setting: string, usual: number, least: number): number {
  const value = settings().get<number>(setting, usual);
  return Number.isInteger(value) && value >= least ? value : usual;
}

const severities = ['hint', 'information', 'warning', 'off'] as const;

export const hostSettings = {
  trace: (): boolean => settings().get('trace', false),
  /** Undefined unless the person chose it, because config files may have another limit (L2c). */
  maxInstances: (): number | undefined => {
    const chosen = settings().inspect<number>('maxInstances')?.globalValue ?? 0;
    return Number.isInteger(chosen) && chosen > 0 ? chosen : undefined;
  },
  usualStart: (): 'window' | 'call' => (settings().get('start') === 'call' ? 'call' : 'window'),
  recordsCalls: (): boolean => settings().get('calls') !== 'off',
  offersAdmin: (): boolean => settings().get('adminTools', true),
  filteredTools: () =>
    severities.find((one) => one === settings().get('problems.filteredTools')) ?? 'hint',
  serverLists: () => {
    const chat = vscode.workspace.getConfiguration('chat.mcp');
    const allowed = { value: chat.get('allowedServers'), ...chat.inspect('allowedServers') };
    const denied = { value: chat.get('deniedServers'), ...chat.inspect('deniedServers') };
    return effectiveLists({ allowed, denied }, chat.get('allowManagedServersOnly') === true);
  },
} satisfies HostSettings;

export const maxResultBytes = (): number => wholeNumber('maxResultBytes', 2 ** 20, 1024);
export const maxSteps = (): number => wholeNumber('minds.maxSteps', 25, 1);
export const holdsChangedTools = (): boolean => settings().get('changedTools') === 'hold';
/** The setting has the scope of the application, so no workspace can answer for the person (S1). */
export const asksForApproval = (): boolean => settings().get('approval') !== 'trustedWorkspace';

/** Returns bytes (V3). */
export function artifactsQuota(): number {
  const value = settings().get<number>('artifactsQuota', 200);
  return (Number.isFinite(value) && value >= 0 ? value : 200) * 2 ** 20;
}

/**
 * One value for each scope (S4), because the editor's merged value would let a workspace loosen the
 * person's setting.
 */
export function toolPermissions(): readonly unknown[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return permissionsByScope(
    settings().inspect('toolPermissions'),
    folders.map(({ uri }) => settings(uri).inspect('toolPermissions')),
  );
}

/** Without a folder, the settings of the person change. */
export async function changeToolPermissions(
  inAllFolders: boolean,
  change: (value: unknown) => unknown,
): Promise<void> {
  const values = settings().inspect('toolPermissions');
  const { Global, Workspace } = vscode.ConfigurationTarget;
  const [value, target] =
    inAllFolders || !vscode.workspace.workspaceFolders
      ? [values?.globalValue, Global]
      : [values?.workspaceValue, Workspace];
  await settings().update('toolPermissions', change(value), target);
}

export function isAllowedByName(): (tool: string) => boolean {
  const all = toolPermissions().map(asFields);
  return (tool) => all.some((names) => names[tool] === 'allow');
}

export function endpointPort(chosen: unknown): EndpointPort {
  return endpointPortOf(settings().inspect('endpoint.port'), chosen);
}
