/**
 * The changes of a road to the lists and answers of a server, by the rules. Everything else must be
 * equal to the byte.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { withScript } from '../../src/core/apps/editorApps.js';
import { deliveryWithoutFiles } from '../../src/core/results/delivery.js';
import type { Answer, Fields } from './peer.js';
import type { Ask, RealServer } from './servers.js';

export type RoadName = 'toolset' | 'all' | 'editor' | 'connect' | 'command line';

export const nameOf = (
  { id, prefix = '' }: RealServer,
  original: unknown,
  road: RoadName,
): string =>
  // The editor has the name of the toolset before each name already (G3h).
  road === 'editor' && prefix === `${id}_` ? String(original) : `${prefix}${String(original)}`;

function uiOf(tool: Fields | undefined): { resourceUri?: string; visibility?: readonly string[] } {
  const meta = tool?.['_meta'] as { ui?: object } | undefined;
  return meta?.ui ?? {};
}

/**
 * Tools for apps only follow the tools for models (G8a). The command line has no apps. All else has
 * the order of the server (N6).
 */
export function expectedTools(
  server: RealServer,
  tools: readonly Fields[],
  road: RoadName,
): Fields[] {
  const isForApps = (tool: Fields): boolean => uiOf(tool).visibility?.join() === 'app';
  const forModels = tools
    .filter((tool) => !isForApps(tool))
    .map((tool) => expectedTool(tool, nameOf(server, tool['name'], road), road));
  return road === 'command line' ? forModels : [...forModels, ...tools.filter(isForApps)];
}

function expectedTool(tool: Fields, name: string, road: RoadName): Fields {
  const named: Record<string, unknown> = { ...tool, name };
  // Clients call a tool with required tasks of 2025-11-25 like any other (X8h). The command line
  // prints it unchanged.
  if (
    road !== 'command line' &&
    (tool['execution'] as Fields | undefined)?.['taskSupport'] === 'required'
  )
    delete named['execution'];
  if (road !== 'editor') return named;
  // The editor gets readable content in place of the promised structure (V1a).
  delete named['outputSchema'];
  return named;
}

/** @param tools the bare server's */
export async function expectedAnswer(
  server: RealServer,
  tools: readonly Fields[],
  ask: Ask,
  answer: Answer,
  road: RoadName,
): Promise<Answer> {
  const { result } = answer;
  if (!result) return answer;
  // The kind of a modern result comes first, for clients that read it before the rest (X8).
  const { resultType, ...others } = result;
  if (resultType !== undefined) return { result: { resultType, ...others } };
  if (road !== 'editor') return answer;
  if (ask.method === 'resources/read')
    return String(ask.params['uri']).startsWith('ui:') ? { result: withScript(result) } : answer;
  if (ask.method !== 'tools/call') return answer;
  const origin = { conversation: 'c', server: server.id, tool: String(ask.params['name']) };
  const tool = tools.find(({ name }) => name === ask.params['name']);
  const given = result as unknown as CallToolResult;
  const delivery = deliveryWithoutFiles();
  const made = await (uiOf(tool).resourceUri === undefined
    ? delivery.readable(given, origin as never)
    : delivery.readableWithApp(given, origin as never, 'token'));
  // The SDK puts `_meta` first.
  const { _meta, ...rest } = made;
  return { result: { ...(_meta && { _meta }), ...rest } };
}

/** A URI in no list goes to each server with resources, and one error names them (G2). */
export const isOfAllServers = ({ error }: Answer): boolean =>
  error?.message.startsWith('No server has the resource ') === true;

/**
 * The token of an app identifies a conversation, so it differs from one conversation to the next
 * (G8c).
 */
export const withoutToken = (text: string): string =>
  text.replace(/("mcp-toolsets\/app":\{"token":)"[^"]*"/, '$1"token"');
