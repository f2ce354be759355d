/**
 * Reads a server's description (X3), and removes fields of later protocol versions from our
 * messages to it. Pure.
 */
import { english } from '../base/language.js';
import { isObject, without, type Fields } from '../base/isObject.js';
import { clipped } from '../base/text.js';
import { isProtocolVersion, modernVersion, protocolVersions } from '../protocol/versions.js';
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { inBrief, shortened } from '../protocol/inBrief.js';

/** Some servers still speak it, and no client does. */
const firstVersion = '2024-10-07';
/**
 * It brought the header, the `context` of completions and the `_meta` of roots. Versions sort as
 * texts.
 */
const richer = '2025-06-18';

export function versionHeader(version: string): string | undefined {
  return version >= richer ? version : undefined;
}

/** @param message the params of our request, or our answer to the server's request */
export function inFormOf(version: string, method: string, message: Fields): Fields {
  if (version >= richer) return message;
  if (method === 'completion/complete') return without(message, 'context');
  const { roots } = message;
  if (method !== 'roots/list' || !Array.isArray(roots)) return message;
  return {
    ...message,
    roots: roots.map((root: unknown) => (isObject(root) ? without(root, '_meta') : root)),
  };
}

/** Limits in characters, because every agent and every view gets these (S2). */
const longestName = 256;
const longestInstructions = 64 * 1024;

export interface ServerFacts {
  readonly serverInfo: {
    readonly name: string;
    readonly version: string;
    readonly title?: string;
  };
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly protocolVersion: string;
}

/** Returns a text that ends "The answer to initialize …" if it is wrong. */
export function readInitializeAnswer(result: unknown): ServerFacts | string {
  if (!isObject(result)) return english`is not an object but ${inBrief(result, 100)}`;
  const { protocolVersion } = result;
  if (typeof protocolVersion !== 'string') return 'names no protocol version';
  if (isProtocolVersion(protocolVersion) || protocolVersion === firstVersion)
    return readFacts(result, protocolVersion);
  const known = [...protocolVersions, firstVersion].reverse().join(', ');
  return english`names protocol version ${shortened(protocolVersion, 40)}; known are ${known}`;
}

export function readFacts(answer: Fields, protocolVersion: string): ServerFacts | string {
  const { capabilities, serverInfo, instructions } = answer;
  if (!isObject(capabilities)) return 'has no capabilities';
  if (!isObject(serverInfo)) return 'has no serverInfo';
  const { name, version, title } = serverInfo;
  if (typeof name !== 'string' || typeof version !== 'string')
    return 'has a serverInfo without name and version';
  return {
    serverInfo: {
      name: clipped(name, longestName),
      version: clipped(version, longestName),
      ...(typeof title === 'string' && { title: clipped(title, longestName) }),
    },
    instructions:
      (typeof instructions === 'string' && clipped(instructions, longestInstructions)) || undefined,
    capabilities: readCapabilities(capabilities),
    protocolVersion,
  };
}

/** Some servers write `true`, `false` or null in place of an object. */
function readCapabilities(capabilities: Fields): ServerCapabilities {
  const read = Object.entries(capabilities).map(
    ([name, value]) => [name, value === true ? {} : value] as const,
  );
  return Object.fromEntries(read.filter(([, value]) => isObject(value)));
}

export function keptFacts(kept: Fields): ServerFacts | undefined {
  const isModern = kept['protocolVersion'] === modernVersion;
  const answer = isModern ? readFacts(kept, modernVersion) : readInitializeAnswer(kept);
  return typeof answer === 'string' ? undefined : answer;
}
