/**
 * The paths of the gateway: one for each toolset and kind of client, and for each conversation with
 * its own address.
 */
import { policies, type ClientPolicy } from '../protocol/clientPolicy.js';

/** The id of all toolsets together, at `/mcp`. No server can have it. */
export const everyToolset = '*';

export interface Route {
  readonly policy: ClientPolicy;
  readonly toolset: string;
  readonly address?: string;
}

function segmentOf({ names }: ClientPolicy): 'editor' | 'mcp' {
  return names === 'published' ? 'mcp' : 'editor';
}

/** An address is too long for two clients to choose the same by chance. */
const routePattern =
  /^\/(editor|mcp)(?:\/([A-Za-z0-9_-]{1,64}))?(?:\/c\/([A-Za-z0-9_-]{22,64}))?\/?(?:\?|$)/;

/** The path of the connected programs as JSON, for the holders of a lasting token. */
export const programsPath = '/programs';

/** The path of the snapshot of the servers as JSON, for the same holders. */
export const snapshotPath = '/snapshot';

export interface ConnectedProgram {
  readonly program: string;
  readonly toolset: string;
}

export function parseRoute(url: string | undefined): Route | undefined {
  const match = routePattern.exec(url ?? '');
  if (!match) return undefined;
  const policy = match[1] === 'editor' ? policies.editor : policies.agent;
  const [, , toolset = everyToolset, address] = match;
  // The editor has one path for each toolset, and names its conversations itself.
  if (policy === policies.editor && (toolset === everyToolset || address !== undefined))
    return undefined;
  return {
    policy,
    toolset,
    ...(address !== undefined && { address }),
  };
}

/**
 * True if a session of this kind may use the path. The editor and its agent hosts share one path.
 */
export function isServedAt(route: Pick<Route, 'policy'>, policy: ClientPolicy): boolean {
  return segmentOf(route.policy) === segmentOf(policy);
}

export function routePath(route: Route): string {
  const path = `/${segmentOf(route.policy)}`;
  const ofToolset = route.toolset === everyToolset ? path : `${path}/${route.toolset}`;
  return route.address === undefined ? ofToolset : `${ofToolset}/c/${route.address}`;
}

/** True for unused paths too, because the editor must never see a 403. */
export function isEditorPath(url: string | undefined): boolean {
  return url?.startsWith('/editor/') === true;
}

export function isRestPath(url: string | undefined): boolean {
  return /^\/api(?:\/|$|\?)/.test(url ?? '');
}
