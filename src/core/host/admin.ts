/**
 * The built-in toolset `mcp_admin` (L5): what an agent can ask of the host itself. Only the tools and what they
 * answer; what they do is given to them.
 */
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { assertNever } from '../base/assertNever.js';
import type { LeaseNews } from '../protocol/request.js';
import { noResources, type ServedTool, type Toolset } from '../tools/catalogue.js';
import { adminShortName, editorId } from '../tools/editorNames.js';
import { toolsAlone } from '../tools/features.js';
import type { Host } from './hostContract.js';
import type { ServerState, ServerStatus, StatusSnapshot } from '../reconcile/status.js';

export const adminId = 'mcp_admin';
const prefix = 'mcp_';

/** Each resolves to what the agent reads; rejects with a message fit for it. */
interface AdminActions {
  release(server: string, dialog: string): Promise<string>;
  status(dialog: string): Promise<string>;
  restart(server: string, dialog: string): Promise<string>;
  reload(): Promise<string>;
}

const ofServer: Tool['inputSchema'] = {
  type: 'object',
  properties: { serverId: { type: 'string', description: 'The id of the server, which is the name of its toolset.' } },
  required: ['serverId'],
  additionalProperties: false,
};
const ofNothing: Tool['inputSchema'] = { type: 'object', properties: {}, additionalProperties: false };

const definitions: readonly Tool[] = [
  {
    name: 'mcp_release',
    title: 'Release an MCP server',
    description:
      'Ends the instance of an MCP server that belongs to this conversation, and with it what it holds (open pages, sessions). Call it when its tools will not be needed again soon.',
    inputSchema: ofServer,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  {
    name: 'mcp_status',
    title: 'Status of MCP servers',
    description:
      'Tells the state of every MCP server, its problems, and which of them hold an instance for this conversation.',
    inputSchema: ofNothing,
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'mcp_restart',
    title: 'Restart an MCP server',
    description:
      'Restarts an MCP server that hangs or has failed. Of a server that gives each conversation an instance of its own, only the instance of this conversation ends.',
    inputSchema: ofServer,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  },
  {
    name: 'mcp_reload',
    title: 'Reload the MCP config',
    description: 'Reads the config files anew and applies what changed, environment variables included.',
    inputSchema: ofNothing,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
];

export const adminToolset: Toolset = {
  id: adminId,
  shortName: adminShortName,
  leased: false,
  instructions: undefined,
  excluded: [],
  prompts: [],
  resources: noResources,
  features: toolsAlone,
  tools: definitions.map((tool): ServedTool => {
    // The editor's own prefix is `mcp_admin_` already.
    const editorName = tool.name.slice(prefix.length);
    const id = editorId(adminShortName, editorName);
    return { original: tool.name, published: tool.name, tool, editorName, editorId: id };
  }),
};

/** Undefined: there is no such tool. */
export async function callAdminTool(
  actions: AdminActions,
  tool: string,
  input: Readonly<Record<string, unknown>> | undefined,
  dialog: string,
): Promise<CallToolResult | undefined> {
  const serverId = (): string => {
    const given = input?.['serverId'];
    if (typeof given !== 'string' || given === '') throw new Error('The argument "serverId" is missing: a text.');
    return given;
  };
  try {
    switch (tool) {
      case 'mcp_release':
        return text(await actions.release(serverId(), dialog));
      case 'mcp_status':
        return text(await actions.status(dialog));
      case 'mcp_restart':
        return text(await actions.restart(serverId(), dialog));
      case 'mcp_reload':
        return text(await actions.reload());
      default:
        return undefined;
    }
  } catch (error) {
    return { ...text(`Error: ${error instanceof Error ? error.message : String(error)}`), isError: true };
  }
}

function text(line: string): CallToolResult {
  return { content: [{ type: 'text', text: line }] };
}

/** What a dialog is told of its lease, with a result (L3, X4). `release`: the name under which it sees the tool. */
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

/** For the instructions of a toolset whose instances are leased. */
export function leaseInstructions(server: string, release: string): string {
  return `Each conversation has an instance of "${server}" of its own, from its first call on; it keeps its state from call to call. Call ${release}({"serverId":"${server}"}) when it will not be needed again soon.`;
}

/** What the tools of `mcp_admin` do (L5): a dialog's own instance first, the server itself where it has none. */

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

/** The state of the servers as an agent reads it (`mcp_status`). Pure; the snapshot is redacted already. */

/**
 * @param dialog whose leases are marked.
 * @param only the id of the one server to tell of. Unknown: says so.
 */
function statusText(snapshot: StatusSnapshot, dialog: string | undefined, only?: string): string {
  const servers = snapshot.servers.filter(({ id }) => only === undefined || id === only);
  if (servers.length === 0) return only === undefined ? 'No servers are configured.' : `There is no server "${only}".`;
  return servers
    .flatMap((server) => [
      serverLine(server, dialog),
      ...snapshot.problems
        .filter((problem) => problem.server === server.id && problem.severity !== 'information')
        .map((problem) => `  ${problem.severity}: ${problem.message} ${problem.fix}`),
    ])
    .join('\n');
}

function serverLine(server: ServerStatus, dialog: string | undefined): string {
  const own = server.instances.some(({ use }) => use.kind === 'leased' && use.dialog === dialog);
  return [
    `${server.id}: ${stateText(server.state)}`,
    `${server.tools.length} of ${server.offered} tools published`,
    ...(server.previous ? ['serves its previous definition'] : []),
    ...(own ? ['this conversation has an instance'] : []),
  ].join(', ');
}

function stateText(state: ServerState): string {
  if (state.kind === 'pending') return 'waits for the person to approve its start';
  return state.kind === 'reconnecting' ? `reconnecting (attempt ${state.attempt})` : state.kind;
}

/** Published names that belong to the built-in toolset `mcp_admin` (L5, N5). */
export const builtInNames: ReadonlySet<string> = new Set(['mcp_release', 'mcp_status', 'mcp_restart', 'mcp_reload']);
