/**
 * What is sent to a server in words of the protocol version it has chosen: what came with a later one is left out. Pure.
 * What a server says in words of another version than its own is understood all the same.
 */
import { isObject } from '../base/isObject.js';
import type { Fields } from '../protocol/client.js';
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { shortened } from './jsonRpc.js';

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

/** Whether the answer to `initialize` is one (X3). Pure. */

/** Newest first; the first one is what we ask for. */
export const knownProtocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export interface ServerFacts {
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly protocolVersion: string;
}

/** `wrong` says what, as the end of a sentence that begins with "The answer to initialize". */
type InitializeAnswer =
  { readonly kind: 'right'; readonly facts: ServerFacts } | { readonly kind: 'wrong'; readonly detail: string };

export function readInitializeAnswer(result: unknown): InitializeAnswer {
  if (!isObject(result)) return wrong(`is not an object but ${shortened(JSON.stringify(result) ?? 'nothing', 100)}`);
  const { protocolVersion, capabilities, serverInfo, instructions } = result;
  if (typeof protocolVersion !== 'string') return wrong('names no protocol version');
  if (!(knownProtocolVersions as readonly string[]).includes(protocolVersion)) {
    return wrong(
      `names protocol version ${shortened(protocolVersion, 40)}; known are ${[...knownProtocolVersions].reverse().join(', ')}`,
    );
  }
  if (!isObject(capabilities)) return wrong('has no capabilities');
  if (!isObject(serverInfo)) return wrong('has no serverInfo');
  const { name, version, title } = serverInfo;
  if (typeof name !== 'string' || typeof version !== 'string')
    return wrong('has a serverInfo without name and version');
  return {
    kind: 'right',
    facts: {
      serverInfo: { name, version, ...(typeof title === 'string' && { title }) },
      instructions: typeof instructions === 'string' && instructions !== '' ? instructions : undefined,
      capabilities: capabilities as ServerCapabilities,
      protocolVersion,
    },
  };
}

function wrong(detail: string): InitializeAnswer {
  return { kind: 'wrong', detail };
}
