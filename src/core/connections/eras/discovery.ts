/**
 * What a server of the modern era says of itself, read as the answer to the `initialize` that the SDK's client has
 * sent. Pure.
 */
import type { JSONRPCErrorResponse } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../../base/isObject.js';
import { metaKeys } from '../../protocol/requestMeta.js';
import { modernVersion, protocolVersions } from '../../protocol/versions.js';
import { shortened } from '../../protocol/inBrief.js';
import type { Fields } from '../../protocol/client.js';

export type Discovery =
  /** `answer` is the result of initialize that says the same. */
  | { readonly kind: 'modern'; readonly answer: Fields; readonly capabilities: Fields }
  /** The server knows discovery, and no version that is known here. */
  | { readonly kind: 'otherVersions'; readonly message: string }
  /** Nothing is known: the server could not be asked. */
  | { readonly kind: 'unasked'; readonly error: JSONRPCErrorResponse['error'] }
  /** It is no answer to `server/discover`. */
  | { readonly kind: 'none' };

/** What a refused version says; `again`: the server says that it speaks that one, so it can be asked once more. */
type Refused = Discovery | { readonly kind: 'again' };

export function readDiscovery(result: unknown): Discovery {
  if (!isObject(result) || !Array.isArray(result['supportedVersions'])) return { kind: 'none' };
  if (!result['supportedVersions'].includes(modernVersion)) return otherVersions(result['supportedVersions']);
  const { capabilities, instructions, _meta: meta } = result;
  if (!isObject(capabilities)) return { kind: 'none' };
  const said = isObject(meta) ? meta[metaKeys.serverInfo] : undefined;
  const serverInfo = { name: 'unnamed', version: '', ...(isObject(said) && said) };
  // The SDK's client knows no later version; the connection is told which one is spoken.
  const answer = { protocolVersion: protocolVersions[0], capabilities, serverInfo, instructions };
  return { kind: 'modern', answer, capabilities };
}

/** @param data of the error with which a server refuses a version */
export function readRefusedVersion(data: unknown): Refused {
  const supported = isObject(data) ? data['supported'] : undefined;
  if (!Array.isArray(supported)) return { kind: 'none' };
  if (supported.includes(modernVersion)) return { kind: 'again' };
  return protocolVersions.some((version) => supported.includes(version)) ? { kind: 'none' } : otherVersions(supported);
}

function otherVersions(supported: readonly unknown[]): Discovery {
  // A version has ten characters, and no more of the list is read than is shown.
  const theirs = supported
    .slice(0, 20)
    .filter((version) => typeof version === 'string')
    .map((version) => version.slice(0, 200))
    .join(', ');
  const ours = [modernVersion, ...protocolVersions].join(', ');
  return {
    kind: 'otherVersions',
    message: `It speaks protocol versions ${shortened(theirs, 200)}, but MCP Toolsets speaks only ${ours}.`,
  };
}
