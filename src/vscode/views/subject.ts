/** Finds the subject of a command, which is a row of the sidebar or a server that a person chooses. */
import { inert } from '../../core/base/inert.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { window } from './inertEditor.js';
import { fileLabel } from './fileLabels.js';
import { stateWord } from './phrases.js';
import type { Row } from './treeView.js';

/** A row or the id of a server; undefined if the command comes from the palette. */
export type Subject = Row | string | undefined;

export function serverOf(subject: Subject): string | undefined {
  return typeof subject === 'string' ? subject : subject?.node.server;
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
