/** The settings `mcpToolsets.*`, read where they are used, so that a change counts at once. */
import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposables.js';

const section = 'mcpToolsets';
const usualMaxResultBytes = 2 ** 20;

type Setting = 'approval' | 'changedTools' | 'endpoint.port' | 'problems.filteredTools' | 'toolPermissions';

export function onDidChangeSetting(setting: Setting, run: () => void): Disposable {
  return vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration(`${section}.${setting}`)) run();
  });
}

/** Whether the exchange with servers goes to their logs. */
export function trace(): boolean {
  return vscode.workspace.getConfiguration(section).get('trace', false);
}

/** How many instances may live at once (L2). */
export function maxInstances(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('maxInstances', 32);
  return Number.isInteger(value) && value > 0 ? value : 32;
}

/** Of all files of results together, in bytes (V3). */
export function artifactsQuota(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('artifactsQuota', 200);
  return (Number.isFinite(value) && value >= 0 ? value : 200) * 2 ** 20;
}

/** Of the text of one result; beyond it the text goes to a file (V3). */
export function maxResultBytes(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('maxResultBytes', usualMaxResultBytes);
  return Number.isInteger(value) && value >= 1024 ? value : usualMaxResultBytes;
}

/** How many requests `@minds` may send to the model for one question (D1). */
export function maxSteps(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('minds.maxSteps', 25);
  return Number.isInteger(value) && value > 0 ? value : 25;
}

/**
 * Whether a person wants to be asked before a server of the workspace starts (S1). A setting of the application:
 * neither a workspace nor a dev container that a workspace describes can say so for itself.
 */
export function asksForApproval(): boolean {
  return vscode.workspace.getConfiguration(section).get<string>('approval') !== 'trustedWorkspace';
}

const severities = ['information', 'warning', 'off'] as const;

/** How tools are told of that a list keeps out (N2). */
export function filteredTools(): (typeof severities)[number] {
  const value = vscode.workspace.getConfiguration(section).get<string>('problems.filteredTools');
  return severities.find((severity) => severity === value) ?? 'information';
}

/**
 * What agents may do with tools (S4): the value of each place where it can be set, because the strictest counts and
 * the editor's own merging would let a workspace loosen what the person set.
 */
export function toolPermissions(): readonly unknown[] {
  const set = vscode.workspace.getConfiguration(section).inspect('toolPermissions');
  return [set?.globalValue, set?.workspaceValue, set?.workspaceFolderValue];
}

/** Whether a tool that changed since its server was approved is kept from agents (S3). */
export function holdsChangedTools(): boolean {
  return vscode.workspace.getConfiguration(section).get<string>('changedTools') === 'hold';
}

/** Where agents outside the editor find the toolsets (G6); 0: nowhere. */
export function endpointPort(): number {
  const value = vscode.workspace.getConfiguration(section).get<number>('endpoint.port', 0);
  return Number.isInteger(value) && value > 0 && value < 65_536 ? value : 0;
}
