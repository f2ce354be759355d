/**
 * The built-in toolset `mcp_admin` (L5), through which an agent asks the host itself: its names,
 * texts and answers.
 */
import { approveCommand } from '../approval/approvalTexts.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { needsAttention, type Problem } from '../base/problem.js';
import { messageOf } from '../base/text.js';
import { builtInToolset } from '../config/model.js';
import { folderOf } from '../config/sources.js';
import type { Fields } from '../protocol/client.js';
import type { ClientPolicy } from '../protocol/clientPolicy.js';
import type { ServerStatus, StatusSnapshot } from '../reconcile/status.js';
import { noResources, type ServedTool, type Toolset } from '../tools/catalogue.js';
import { adminShortName, editorId } from '../tools/editorNames.js';
import { toolsAlone } from '../tools/features.js';
import { whyDown } from './configuredToolsets.js';

export const adminId = builtInToolset;

/** Each function rejects with a message for an agent. */
export interface AdminDeps {
  /** Resolves to true if the conversation had an instance. It has ended then. */
  release(server: string, conversation: string, by: 'this conversation'): Promise<boolean>;
  isStopped(server: string): boolean;
  restart(server: string, by: 'an agent'): Promise<void>;
  reload(): Promise<void>;
  takeSnapshot(): StatusSnapshot;
}

interface AdminTool extends Tool {
  run(deps: AdminDeps, input: Fields, conversation: string): Promise<string>;
}

const aServer: Tool['inputSchema'] = {
  type: 'object',
  properties: {
    serverId: {
      type: 'string',
      description: 'The id of the server, which is the name of its toolset.',
    },
  },
  required: ['serverId'],
  additionalProperties: false,
};
const nothing: Tool['inputSchema'] = {
  type: 'object',
  properties: {},
  additionalProperties: false,
};

const prefix = 'mcp_';
export const releaseTool = `${prefix}release`;

const harmless: Tool['annotations'] = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

const adminTools: readonly AdminTool[] = [
  {
    name: releaseTool,
    title: 'Release an MCP server',
    description:
      'Ends the instance of an MCP server that belongs to this conversation, and what it holds (open pages, sessions). Call this when you will not need its tools again soon.',
    inputSchema: aServer,
    annotations: harmless,
    run: async (deps, input, conversation) => {
      const server = serverOf(input);
      if (await deps.release(server, conversation, 'this conversation')) return endedText(server);
      return `This conversation has no instance of "${server}".`;
    },
  },
  {
    name: `${prefix}status`,
    title: 'Status of MCP servers',
    description:
      'Returns the state and the problems of every MCP server, and which servers have an instance for this conversation.',
    inputSchema: nothing,
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: (deps, _, conversation) => Promise.resolve(statusText(deps.takeSnapshot(), conversation)),
  },
  {
    name: `${prefix}restart`,
    title: 'Restart an MCP server',
    description:
      'Restarts an MCP server that hangs or has failed. If each conversation has its own instance, only the instance of this conversation ends, or the spare instance for the next conversation. A server that a person stopped is not started.',
    inputSchema: aServer,
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: false,
    },
    run: async (deps, input, conversation) => {
      const server = serverOf(input);
      if (deps.isStopped(server)) {
        const how =
          'It stays stopped until they start it with “Start Server” in the MCP Toolsets view.';
        throw new Error(`A person stopped "${server}". ${how}`);
      }
      if (await deps.release(server, conversation, 'this conversation')) return endedText(server);
      await deps.restart(server, 'an agent');
      return statusText(deps.takeSnapshot(), conversation, server);
    },
  },
  {
    name: `${prefix}reload`,
    title: 'Reload the MCP config',
    description:
      'Reads the config files again and applies the changes, including environment variables.',
    inputSchema: nothing,
    annotations: harmless,
    run: async (deps) => {
      await deps.reload();
      return statusText(deps.takeSnapshot(), undefined);
    },
  },
];

export const adminNames: ReadonlySet<string> = new Set(adminTools.map(({ name }) => name));

function editorNameOf(published: string): string {
  return published.slice(prefix.length);
}

export const adminToolset: Toolset = {
  id: adminId,
  shortName: adminShortName,
  leased: false,
  instructions: undefined,
  excluded: [],
  prompts: [],
  resources: noResources,
  features: toolsAlone,
  tools: adminTools.map(({ run: _, ...tool }): ServedTool => {
    const { name } = tool;
    const editorName = editorNameOf(name);
    return {
      original: name,
      published: name,
      tool,
      editorName,
      editorId: editorId(adminShortName, editorName),
    };
  }),
};

export function releaseNameFor({ names }: ClientPolicy): string {
  return names === 'editor' ? `${adminId}_${editorNameOf(releaseTool)}` : releaseTool;
}

/**
 * The release tool at a toolset's own endpoint (L2a). No server can have its name, which contains
 * the short name.
 */
export function ownReleaseTool(server: string, shortName: string): ServedTool {
  const name = ownReleaseName(shortName);
  const own: Tool = {
    name,
    title: `Release "${server}"`,
    description: `Ends the instance of the MCP server "${server}" that belongs to this conversation, and what it holds (open pages, sessions). Call this when you will not need its tools again soon.`,
    inputSchema: nothing,
    annotations: harmless,
  };
  return {
    original: releaseTool,
    published: name,
    tool: own,
    editorName: name,
    editorId: name,
    releases: server,
  };
}

export function ownReleaseName(shortName: string): string {
  return `${releaseTool}_${shortName.replaceAll('-', '_')}`;
}

export async function callAdminTool(
  deps: AdminDeps,
  published: string,
  input: Fields = {},
  conversation: string,
): Promise<CallToolResult> {
  const found = adminTools.find(({ name }) => name === published);
  const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
  try {
    if (!found) throw new Error(`There is no tool "${published}".`);
    return textResult(await found.run(deps, input, conversation));
  } catch (error) {
    return { ...textResult(`Error: ${messageOf(error)}`), isError: true };
  }
}

function serverOf({ serverId }: Fields): string {
  if (typeof serverId !== 'string' || serverId === '')
    throw new Error('The argument "serverId" must be a string.');
  return serverId;
}

function endedText(server: string): string {
  return `The instance of "${server}" of this conversation has ended. The next call starts a new one.`;
}

/** @param conversation its leases are marked @param only the id of the one server to report */
function statusText(
  snapshot: StatusSnapshot,
  conversation: string | undefined,
  only?: string,
): string {
  const servers = snapshot.servers.filter(({ id }) => only === undefined || id === only);
  if (only !== undefined && servers.length === 0) return `There is no server "${only}".`;
  const problems = snapshot.problems.filter(needsAttention);
  const ofFiles =
    only === undefined
      ? problems.filter(({ server }) => !servers.some(({ id }) => id === server))
      : [];
  const lines = [
    ...servers.flatMap((server) => [
      serverLine(server, conversation),
      ...problems
        .filter((problem) => problem.server === server.id)
        .map((problem) => `  ${problem.severity}: ${problem.message} ${problem.fix}`),
    ]),
    ...ofFiles.map(
      ({ severity, place, message, fix }) => `${severity} in ${place.file}: ${message} ${fix}`,
    ),
  ];
  return lines.length === 0 ? 'No servers are configured.' : lines.join('\n');
}

export function fileErrors({ problems }: StatusSnapshot): string[] {
  return problems
    .filter(({ server, severity }) => server === undefined && severity === 'error')
    .map(({ place, message, fix }) => `There is an error in ${place.file}: ${message} ${fix}`);
}

function serverLine(server: ServerStatus, conversation: string | undefined): string {
  const own = server.instances.find(
    ({ use }) => use.kind === 'leased' && use.conversation === conversation,
  );
  const hasSpare = server.instances.some(({ use }) => use.kind === 'spare');
  return [
    `${server.id}: ${stateText(server)}`,
    `${server.tools.length} of ${server.offered} tools published`,
    ...(server.previous ? [previousPhrase(server.previous)] : []),
    ...(server.previous && server.approval.kind === 'pending'
      ? [`approved ${howToApprove(server)}`]
      : []),
    ...(own
      ? [`this conversation has an instance${own.folder === undefined ? '' : ` in ${own.folder}`}`]
      : []),
    ...(hasSpare ? ['a spare instance waits for the next conversation'] : []),
  ].join(', ');
}

function previousPhrase({ since, reason }: NonNullable<ServerStatus['previous']>): string {
  return `has served its previous definition since ${new Date(since).toISOString()} (${reason.replace(/\.$/, '')})`;
}

function stateText(server: ServerStatus): string {
  const { state } = server;
  if (state.kind === 'pending')
    return `waits for the person to approve its start (${howToApprove(server)})`;
  if (state.kind === 'remembered') return 'not started; the first call starts it';
  return state.kind === 'reconnecting' ? `reconnecting (attempt ${state.attempt})` : state.kind;
}

type Waiting = Pick<ServerStatus, 'id' | 'state' | 'origin' | 'approval'>;

/** The command names its folder, because the person's terminal may be in another one. */
function howToApprove({ id, origin, approval }: Waiting): string {
  const { launch, isKept = true } = approval.kind === 'pending' ? approval : {};
  if (!isKept) {
    return 'by `mcp-toolsets serve` at a terminal in this folder or in the editor, for one run and the agents that start during it';
  }
  const { source = undefined, directory = undefined } = launch ?? {};
  // A person approves the folder of the workspace in which their own server runs.
  const folder = origin === 'user' ? directory : source && folderOf(source);
  return `by \`${approveCommand(id, folder)}\` at a terminal, or in the editor`;
}

/** @param problems of all servers: the errors of this one are the cause */
export function whyNothing(server: Waiting, problems: readonly Problem[] = []): string {
  const remedy = server.state.kind === 'pending' ? ` (${howToApprove(server)})` : '';
  const causes = problems
    .filter((problem) => problem.server === server.id && problem.severity === 'error')
    .map(({ message, fix }) => ` ${message} ${fix}`);
  return `The toolset "${server.id}" has no tools now: its server is ${whyDown(server.state)}${remedy}.${causes.join('')}`;
}
