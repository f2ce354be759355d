/**
 * Decides by pure checks who may speak to the listener (G2). The port is open to everything that runs on this machine
 * and to every page in its browsers: the token keeps out the first, `Host` (against rebinding of names) and `Origin`
 * the second.
 */
import { timingSafeEqual } from 'node:crypto';
import type { ClientKind } from '../protocol/client.js';
import { everyToolset } from './backend.js';

export interface Route {
  readonly clientKind: ClientKind;
  /** The toolset; it is `everyToolset` where the path names none. */
  readonly toolset: string;
  /** What makes the path the address of one conversation alone (G3); whoever uses it has chosen it. */
  readonly address?: string;
}

const segments = { editor: 'editor', agentHost: 'editor', plain: 'mcp' } as const satisfies Record<ClientKind, string>;
/** An address is as long as makes it unlikely that somebody else has chosen the same. */
const routePattern = /^\/(editor|mcp)(?:\/([A-Za-z0-9_-]{1,64}))?(?:\/c\/([A-Za-z0-9_-]{22,64}))?\/?(?:\?|$)/;

export function parseRoute(url: string | undefined): Route | undefined {
  const match = routePattern.exec(url ?? '');
  if (!match) return undefined;
  const clientKind = match[1] === segments.editor ? 'editor' : 'plain';
  const [, , toolset = everyToolset, address] = match;
  // The editor is offered each toolset by itself, and says which of its conversations calls.
  if (clientKind === 'editor' && (toolset === everyToolset || address !== undefined)) return undefined;
  return { clientKind, toolset, ...(address !== undefined && { address }) };
}

/** Says whether a session of this kind is served at the path. Which client came to the editor's path shows at `initialize`. */
export function isServedAt(route: Pick<Route, 'clientKind'>, clientKind: ClientKind): boolean {
  return segments[route.clientKind] === segments[clientKind];
}

export function routePath(route: Route): string {
  const path = `/${segments[route.clientKind]}`;
  const ofToolset = route.toolset === everyToolset ? path : `${path}/${route.toolset}`;
  return route.address === undefined ? ofToolset : `${ofToolset}/c/${route.address}`;
}

/** Judges by the path alone, also where nothing is served: the editor must never see a 403. */
export function isEditorPath(url: string | undefined): boolean {
  return url?.startsWith(`/${segments.editor}/`) === true;
}

export function isLocalHost(host: string | undefined, port: number): boolean {
  return host === `127.0.0.1:${port}` || host === `localhost:${port}` || host === `[::1]:${port}`;
}

/** Programs send no `Origin`. A page does, and only a page of this machine may. */
export function isLocalOrigin(origin: string | undefined): boolean {
  return origin === undefined || /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/.test(origin);
}

/** Compares in a time that does not depend on where the two differ; the length of the token is no secret. */
export class BearerCheck {
  private readonly expected: Buffer;

  constructor(token: string) {
    this.expected = Buffer.from(token);
  }

  accepts(authorization: string | undefined): boolean {
    const match = /^bearer +([^ ]+) *$/i.exec(authorization ?? '');
    if (!match) return false;
    const given = Buffer.from(match[1] ?? '');
    return given.length === this.expected.length && timingSafeEqual(given, this.expected);
  }
}
