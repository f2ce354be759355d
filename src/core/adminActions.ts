/** What the tools of `mcp_admin` do (spec L5): a dialog's own instance first, the server itself where it has none. */
import type { AdminActions } from './admin.js';
import { statusText } from './adminStatus.js';
import type { Host } from './hostContract.js';
import type { StatusSnapshot } from './reconcile/status.js';

/** @param snapshot of this moment. */
export function createAdminActions(
  host: Pick<Host, 'release' | 'restart' | 'reload'>,
  snapshot: () => StatusSnapshot,
): AdminActions {
  const ended = (server: string): string =>
    `The instance of "${server}" that this conversation had has ended. The next call starts a new one.`;
  return {
    status: (dialog) => Promise.resolve(statusText(snapshot(), dialog)),
    release: async (server, dialog) =>
      (await host.release(server, dialog)) ? ended(server) : `This conversation has no instance of "${server}".`,
    restart: async (server, dialog) => {
      if (await host.release(server, dialog)) return ended(server);
      await host.restart(server);
      return statusText(snapshot(), dialog, server);
    },
    reload: async () => {
      await host.reload();
      return statusText(snapshot(), undefined);
    },
  };
}
