/**
 * Makes a server and this client speak one version of the protocol: it says what the answer to `initialize` must be
 * (X3), and leaves out of what the server is sent whatever came with a later version. What the server says in the words
 * of another version is understood all the same. Everything here is pure.
 */
import { isObject } from '../base/isObject.js';
import { clipped } from '../base/text.js';
import type { Fields } from '../protocol/client.js';
import { isProtocolVersion, modernVersion, protocolVersions } from '../protocol/versions.js';
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { inBrief, shortened } from '../protocol/inBrief.js';

/** Versions are dates, so their order is that of their text. */
const completionContext = '2025-06-18';
const protocolVersionHeader = '2025-06-18';
const metaOfRoots = '2025-06-18';

export function requestParams(version: string, method: string, params: Fields): Fields {
  if (method !== 'completion/complete' || version >= completionContext) return params;
  return Object.fromEntries(Object.entries(params).filter(([key]) => key !== 'context'));
}

/** Returns the answer to a server request in the words of the server's version. */
export function answerParams(version: string, method: string, answer: Fields): Fields {
  const { roots } = answer as { roots?: unknown };
  if (method !== 'roots/list' || version >= metaOfRoots || !Array.isArray(roots)) return answer;
  const plain = (root: unknown): unknown =>
    isObject(root) ? Object.fromEntries(Object.entries(root).filter(([key]) => key !== '_meta')) : root;
  return { ...answer, roots: roots.map(plain) };
}

/** Returns the value of the header `MCP-Protocol-Version`, or undefined for a version that does not know the header. */
export function versionHeader(version: string): string | undefined {
  return version >= protocolVersionHeader ? version : undefined;
}

/** The limit, in characters, of what every agent and every view is given (S2). */
const longestName = 256;
const longestInstructions = 64 * 1024;

export interface ServerFacts {
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly protocolVersion: string;
}

/** `detail` ends a sentence that begins with "The answer to initialize". */
export type InitializeAnswer =
  | { readonly kind: 'right'; readonly facts: ServerFacts }
  | { readonly kind: 'wrong'; readonly detail: string };

export function readInitializeAnswer(result: unknown): InitializeAnswer {
  if (!isObject(result)) return wrong(`is not an object but ${inBrief(result, 100)}`);
  const { protocolVersion, capabilities, serverInfo, instructions } = result;
  if (typeof protocolVersion !== 'string') return wrong('names no protocol version');
  if (!isProtocolVersion(protocolVersion)) {
    return wrong(
      `names protocol version ${shortened(protocolVersion, 40)}; known are ${[...protocolVersions].reverse().join(', ')}`,
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
      serverInfo: {
        name: clipped(name, longestName),
        version: clipped(version, longestName),
        ...(typeof title === 'string' && { title: clipped(title, longestName) }),
      },
      instructions:
        typeof instructions === 'string' && instructions !== ''
          ? clipped(instructions, longestInstructions)
          : undefined,
      capabilities: readCapabilities(capabilities),
      protocolVersion,
    },
  };
}

/** Some servers write `true` and `false`, or null, for what they have and have not. */
function readCapabilities(capabilities: Fields): ServerCapabilities {
  const read = Object.entries(capabilities).map(([name, value]) => [name, value === true ? {} : value] as const);
  return Object.fromEntries(read.filter(([, value]) => isObject(value)));
}

/**
 * Returns the answer as the SDK's client takes it, whose schema is stricter than we are. The client keeps what the server
 * can do to itself, and nobody asks it.
 */
export function leastInitializeAnswer({ protocolVersion, serverInfo: { name, version } }: ServerFacts): Fields {
  return { protocolVersion, capabilities: {}, serverInfo: { name, version } };
}

/**
 * Reads what a server said of itself and was kept, as if it had just said it. Returns undefined where any of it is not what a
 * server may say.
 */
export function keptFacts(kept: Fields): ServerFacts | undefined {
  const isModern = kept['protocolVersion'] === modernVersion;
  const answer = readInitializeAnswer(isModern ? { ...kept, protocolVersion: protocolVersions[0] } : kept);
  if (answer.kind === 'wrong') return undefined;
  return isModern ? { ...answer.facts, protocolVersion: modernVersion } : answer.facts;
}

function wrong(detail: string): InitializeAnswer {
  return { kind: 'wrong', detail };
}
