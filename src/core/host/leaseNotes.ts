/** What a dialog is told of the instance that it leases (L3, X4). Pure. */
import { assertNever } from '../base/assertNever.js';
import type { LeaseNews } from '../protocol/request.js';

/**
 * Returns the note that comes with a result.
 *
 * @param release the name under which the model sees the release tool; undefined: it has none.
 */
export function leaseNote(server: string, news: LeaseNews, release: string | undefined): string {
  const how =
    release === undefined
      ? 'It ends when it was idle for a while, or when the person releases it.'
      : `Call ${release}({"serverId":"${server}"}) when it will not be needed again soon.`;
  switch (news.kind) {
    case 'new':
      return `[MCP Toolsets] This conversation now has an instance of "${server}" of its own, which keeps its state from call to call. ${how}`;
    case 'replaced':
      return `[MCP Toolsets] The instance of "${server}" that this conversation had is gone (${news.cause}), and with it what it held. This result is of a new one. ${how}`;
    default:
      return assertNever(news);
  }
}

/** Returns what the instructions of a toolset say whose instances are leased. */
export function leaseInstructions(server: string, release: string): string {
  return `Each conversation has an instance of "${server}" of its own, from its first call on; it keeps its state from call to call. Call ${release}({"serverId":"${server}"}) when it will not be needed again soon.`;
}
