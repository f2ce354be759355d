/** The servers of a folder for a command that only looks at them (H1). */
import type { StatusSnapshot } from '../core/reconcile/status.js';
import { FolderApprovals } from './folderApprovals.js';
import { servedBy, servedSnapshot, tokenFileFor, type Served } from './gateways.js';
import type { Options } from './options.js';
import { complain } from './output.js';
import { withServers, type Run } from './withEngine.js';

/**
 * Uses the snapshot of whoever serves the folder, or starts the servers. @param asks false if
 * another process does not know everything that decides what is shown
 */
export async function withSnapshot(
  run: Run,
  options: Options,
  use: (snapshot: StatusSnapshot, by: Served) => number,
  asks = !run.permissions.hasOptions,
): Promise<number> {
  const by = await servedBy(tokenFileFor(run, options));
  const mayAsk = asks && !run.approve && !run.debug && !run.withoutLocal;
  const served = mayAsk ? await servedSnapshot(by.gateways) : undefined;
  if (!served) return withServers({ ...run, looks: true }, ({ host }) => use(host.snapshot, by));
  const approvals = await FolderApprovals.open(run);
  for (const line of approvals.waitingLines(served, true)) complain(line);
  approvals.dispose();
  return use(served, by);
}
