import { inert } from '../../core/base/inert.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import { choose } from './inertEditor.js';
import { fileLabel } from './places.js';
import { stateWord } from './serverStates.js';

export async function pickServer(servers: readonly ServerStatus[]): Promise<string | undefined> {
  const chosen = await choose(
    servers,
    { placeHolder: inert`Choose an MCP server` },
    ({ id, state, source }) => ({
      label: inert`${id}`,
      description: inert`${stateWord(state)} · ${fileLabel(source)}`,
    }),
  );
  return chosen?.id;
}
