/** The servers of a folder for a command that only looks at them (H1). */
import type { StatusSnapshot } from '../core/reconcile/status.js';
import { FolderApprovals } from './folderApprovals.js';
import { servedBy, servedSnapshot, tokenFileFor, type ServedBy } from './gateways.js';
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
  use: (snapshot: StatusSnapshot, gateways: readonly ServedBy[]) => number,
  asks = !run.permissions.hasOptions,
): Promise<number> {
  const gateways = await servedBy(tokenFileFor(run, options));
  const mayAsk = asks && !run.approve && !run.debug;
  const served = mayAsk ? await servedSnapshot(gateways) : undefined;
  if (!served)
    return withServers({ ...run, looks: true }, ({ host }) => use(host.snapshot, gateways));
  const approvals = await FolderApprovals.open(run.folder);
  for (const line of approvals.waitingLines(served, true)) complain(line);
  approvals.dispose();
  return use(served, gateways);
}
