import type { Fields } from '../protocol/client.js';
import type { LeaseNews } from '../protocol/request.js';

export function releaseByName(tool: string, server: string): string {
  return `Call ${tool}({"serverId":"${server}"}) when you will not need it again soon.`;
}

/**
 * Writes that sentence for models of other programs, which put a prefix before the names of tools.
 */
export function releaseByEnding(tool: string, args?: Fields): string {
  const given = args ? JSON.stringify(args) : 'no arguments';
  return `Call the tool whose name ends in "${tool}" with ${given} when you will not need it again soon.`;
}

/**
 * Begins with a line break, because some programs join the parts of a result without one.
 * @param folder the working directory of the instance, an absolute path. An agent may work in another worktree.
 */
export function leaseNote(
  server: string,
  news: LeaseNews,
  advice: string | undefined,
  folder?: string,
): string {
  const how = advice ?? 'It ends when it is idle for a while, or when the person releases it.';
  if (news.kind === 'replaced' || news.kind === 'shared') {
    const now =
      news.kind === 'replaced' ? `a new one. ${how}` : 'one that all conversations share.';
    return `\n[MCP Toolsets] The instance of "${server}" that this conversation had is gone (${news.cause}) with all that it held. This result is from ${now}`;
  }
  const before =
    news.kind === 'new' ? '' : ' If it had one before, that one is gone with all that it held.';
  return `\n[MCP Toolsets] This conversation now has its own instance of "${server}", which keeps its state between calls${folder === undefined ? '' : ` and works in ${folder}`}.${before} ${how}`;
}

export function leaseInstructions(server: string, advice: string | undefined): string {
  const own = `From its first call on, each conversation has its own instance of "${server}", which keeps its state between calls.`;
  return advice === undefined ? own : `${own} ${advice}`;
}
