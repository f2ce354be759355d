/** Asks a server about the modern era, and reads its description of itself. */
import { isObject } from '../../base/isObject.js';
import { delay, type Clock } from '../../base/clock.js';
import { TransportFailure } from '../../failures/transportFailure.js';
import { ConnectionEnded, type Peer } from '../../peer/peer.js';
import { errorCodes, RpcFailure, type RpcError } from '../../protocol/errors.js';
import { metaKeys, metaOf, modernVersion, protocolVersions } from '../../protocol/versions.js';
import { shortened } from '../../protocol/inBrief.js';
import type { Fields } from '../../protocol/client.js';
import { readFacts, type InitializeAnswer } from '../handshake.js';

export type Discovery =
  | { readonly kind: 'modern'; readonly answer: InitializeAnswer; readonly capabilities: Fields }
  /** The server knows discovery, but only versions unknown here. */
  | { readonly kind: 'otherVersions'; readonly message: string }
  /** The server could not be asked. */
  | { readonly kind: 'unasked'; readonly error: RpcError }
  /** It is not an answer to `server/discover`. */
  | { readonly kind: 'none' };

/** The meaning of a refused version; `again`: the server speaks this version, so it can be asked once more. */
type Refused = Discovery | { readonly kind: 'again' };

function readDiscovery(result: unknown): Discovery {
  if (!isObject(result) || !Array.isArray(result['supportedVersions'])) return { kind: 'none' };
  if (!result['supportedVersions'].includes(modernVersion)) return otherVersions(result['supportedVersions']);
  const { capabilities, instructions } = result;
  if (!isObject(capabilities)) return { kind: 'none' };
  const said = metaOf(result)[metaKeys.serverInfo];
  const serverInfo = { name: 'unnamed', version: '', ...(isObject(said) && said) };
  return { kind: 'modern', answer: readFacts({ capabilities, serverInfo, instructions }, modernVersion), capabilities };
}

/** @param data the data of the error refusing a version */
export function readRefusedVersion(data: unknown): Refused {
  const supported = isObject(data) ? data['supported'] : undefined;
  if (!Array.isArray(supported)) return { kind: 'none' };
  if (supported.includes(modernVersion)) return { kind: 'again' };
  return protocolVersions.some((version) => supported.includes(version)) ? { kind: 'none' } : otherVersions(supported);
}

function otherVersions(supported: readonly unknown[]): Discovery {
  // A version has ten characters, so no more of the list is read than is shown.
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

interface DiscoverDeps {
  readonly peer: Peer;
  /** The `_meta` of requests without a client. */
  readonly meta: Fields;
  readonly speak: (version: string) => void;
}

export async function discover(deps: DiscoverDeps, mayAskAgain = true): Promise<Discovery> {
  deps.speak(modernVersion);
  try {
    return readDiscovery(await deps.peer.request('server/discover', { _meta: deps.meta }));
  } catch (error) {
    if (!(error instanceof RpcFailure) || error instanceof ConnectionEnded) throw error;
    if (!mayBeModern(error)) return { kind: 'unasked', error };
    const isVersion = error.code === errorCodes.unsupportedVersion;
    const refused = isVersion ? readRefusedVersion(error.data) : { kind: 'none' as const };
    if (refused.kind !== 'again') return refused;
    return mayAskAgain ? await discover(deps, false) : { kind: 'none' };
  }
}

/**
 * A server known as modern gets `initialize` too if it does not answer within this. It may have become a legacy
 * server, silent about unknown requests, or it is slow to start.
 */
const discoverLimitMs = 5_000;

/** Resolves to undefined if the time is over first. */
export async function inTime(clock: Clock, discovery: Promise<Discovery>): Promise<Discovery | undefined> {
  const isOver = new AbortController();
  const over = delay(clock, discoverLimitMs, isOver.signal).catch(() => undefined);
  return await Promise.race([discovery, over.then(() => undefined)]).finally(() => isOver.abort());
}

/** True unless the server could not be reached: an HTTP server refuses a request by its status. */
export function mayBeModern({ data }: RpcError): boolean {
  if (!(data instanceof TransportFailure)) return true;
  return data.reason.kind === 'status' && [400, 404, 405].includes(data.reason.status);
}
