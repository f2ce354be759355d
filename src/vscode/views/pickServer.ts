import { inert } from '../../core/base/inert.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { window } from './inertEditor.js';
import { fileLabel } from './fileLabels.js';
import { stateWord } from './serverStates.js';

export async function pickServer(servers: readonly ServerStatus[]): Promise<string | undefined> {
  const items = servers.map(({ id, state, source }) => ({
    label: inert`${id}`,
    description: inert`${stateWord(state)} · ${fileLabel(source)}`,
    id,
  }));
  return (await window.showQuickPick(items, { placeHolder: inert`Choose an MCP server` }))?.id;
}
