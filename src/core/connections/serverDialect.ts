/**
 * What is sent to a server in words of the protocol version it has chosen: what came with a later one is left out. Pure.
 * What a server says in words of another version than its own is understood all the same.
 */
import { isObject } from '../base/isObject.js';
import type { Fields } from './serverClient.js';

/** Versions are dates: their order is that of their text. */
const completionContext = '2025-06-18';
const protocolVersionHeader = '2025-06-18';
const metaOfRoots = '2025-06-18';

export function requestParams(version: string, method: string, params: Fields): Fields {
  if (method !== 'completion/complete' || version >= completionContext) return params;
  return Object.fromEntries(Object.entries(params).filter(([key]) => key !== 'context'));
}

/** The answer to a question of the server. */
export function answerParams(version: string, method: string, answer: Fields): Fields {
  const { roots } = answer as { roots?: unknown };
  if (method !== 'roots/list' || version >= metaOfRoots || !Array.isArray(roots)) return answer;
  const plain = (root: unknown): unknown =>
    isObject(root) ? Object.fromEntries(Object.entries(root).filter(([key]) => key !== '_meta')) : root;
  return { ...answer, roots: roots.map(plain) };
}

/** What of it the header `MCP-Protocol-Version` says to a server that speaks it; undefined: it does not know the header. */
export function versionHeader(version: string): string | undefined {
  return version >= protocolVersionHeader ? version : undefined;
}
