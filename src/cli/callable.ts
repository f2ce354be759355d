/** Tells when a tool can be called though other servers still start, because a name belongs to the first in the file (N5). */
import type { Host } from '../core/host/hostContract.js';
import type { Toolset } from '../core/tools/catalogue.js';

/**
 * Resolves with the tool's holder as soon as that is final, or with undefined once `started` says that none will come.
 */
export async function untilCallable(host: Host, tool: string, started: Promise<void>): Promise<Toolset | undefined> {
  await new Promise<void>((resolve, reject) => {
    const look = (): void => {
      if (isDecided(host, tool)) resolve();
    };
    host.onDidChange(look);
    started.then(resolve, reject);
    look();
  });
  return holderOf(host, tool);
}

function holderOf(host: Host, tool: string): Toolset | undefined {
  return host.catalogue.toolsets.find(({ tools }) => tools.some(({ published }) => published === tool));
}

/** Says whether no server before the holder can still come with a tool of that name. */
function isDecided(host: Host, tool: string): boolean {
  const holder = holderOf(host, tool);
  const { servers } = host.snapshot;
  const place = servers.findIndex(({ id }) => id === holder?.id);
  // The built-in toolset acts on the others, so it waits for all of them.
  return place >= 0 && servers.slice(0, place).every(({ state }) => state.kind !== 'starting');
}
