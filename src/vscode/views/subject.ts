/** Finds the subject of a command, which is a row of the sidebar or a server that a person chooses. */
import { inert } from '../../core/base/inert.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { window } from './inertEditor.js';
import { fileLabel } from './fileLabels.js';
import { stateWord } from './phrases.js';
import type { Row } from './treeView.js';

/** A row or the id of a server; undefined if the command comes from the palette. */
export type Subject = Row | string | undefined;

/** Another extension may run a command with anything, so nothing of the subject is believed. */
export function serverOf(subject: Subject): string | undefined {
  const server: unknown = typeof subject === 'string' ? subject : nodeOf(subject)?.server;
  return typeof server === 'string' ? server : undefined;
}

/** Returns the row that the command was called at, if it was. */
export function nodeOf(subject: Subject): Partial<Row['node']> | undefined {
  return typeof subject === 'object' ? (subject as Partial<Row> | null)?.node : undefined;
}

/** Resolves with the id of the server that the person chose. */
export async function pickServer(servers: readonly ServerStatus[]): Promise<string | undefined> {
  const items = servers.map(({ id, state, source }) => ({
    label: inert`${id}`,
    description: inert`${stateWord(state)} · ${fileLabel(source)}`,
    id,
  }));
  return (await window.showQuickPick(items, { placeHolder: inert`Choose an MCP server` }))?.id;
}
