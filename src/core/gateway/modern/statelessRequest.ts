/**
 * Reads what a request of the modern era says of itself, in `_meta` and in its headers, and what is wrong with that
 * (X8, G2). Everything here is pure.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../base/isObject.js';
import type { Fields } from '../../protocol/client.js';
import { errorCodes, type RpcError } from '../../protocol/errors.js';
import { isLogLevel } from '../../protocol/logLevels.js';
import { fromHeader, namedParams } from '../../protocol/mirroredParams.js';
import { metaKeys, metaOf } from '../../protocol/requestMeta.js';
import { modernVersion, protocolVersions } from '../../protocol/versions.js';
import type { Message } from '../jsonRpc.js';

type Request = Extract<Message, { kind: 'request' }>;

export interface StatelessTraits {
  readonly clientInfo: unknown;
  /** The capabilities that it declared. */
  readonly declared: Fields;
  readonly logLevel: string | undefined;
  readonly begunElsewhere: boolean;
  /** Whether parameters of tools are mirrored in headers, as all clients do that speak HTTP themselves. */
  readonly mirrors: boolean;
}

type Envelope =
  | { readonly kind: 'right'; readonly traits: StatelessTraits }
  | { readonly kind: 'wrong'; readonly error: RpcError };

/**
 * Every request of the modern era says its version itself; in the legacy one only the session and its header do. What
 * begins a session is modern only where all of it says so: it is most likely from a client that speaks both.
 */
export function isStateless(headers: IncomingHttpHeaders, message: Message): message is Request {
  if (message.kind !== 'request') return false;
  const byHeader = headers['mcp-protocol-version'] === modernVersion;
  const inBody = metaOf(message.params)[metaKeys.protocolVersion];
  return message.method === 'initialize' ? byHeader && inBody === modernVersion : byHeader || inBody !== undefined;
}

/** Says whether a conversation had begun at another gateway, or at an earlier run of this one. */
export function isBegunElsewhere(headers: IncomingHttpHeaders): boolean {
  return headers['mcp-toolsets-begun-elsewhere'] !== undefined;
}

export function readEnvelope(headers: IncomingHttpHeaders, message: Request): Envelope {
  const meta = metaOf(message.params);
  const version = meta[metaKeys.protocolVersion];
  if (typeof version !== 'string')
    return invalid(`\`_meta\` must name the version in \`${metaKeys.protocolVersion}\`.`);
  const declared = meta[metaKeys.clientCapabilities];
  if (!isObject(declared)) {
    return invalid(`\`_meta\` must have the capabilities in \`${metaKeys.clientCapabilities}\`.`);
  }
  const level = meta[metaKeys.logLevel];
  if (level !== undefined && !isLogLevel(level)) return invalid('Unknown log level.');
  const mismatch = mismatchOf(headers, message, version);
  if (mismatch !== undefined) return wrong({ code: errorCodes.headerMismatch, message: mismatch });
  if (version !== modernVersion) {
    const data = { supported: [modernVersion, ...protocolVersions], requested: version };
    return wrong({ code: errorCodes.unsupportedVersion, message: 'Unsupported protocol version', data });
  }
  return {
    kind: 'right',
    traits: {
      clientInfo: meta[metaKeys.clientInfo],
      declared,
      logLevel: level,
      begunElsewhere: isBegunElsewhere(headers),
      mirrors: headers['mcp-toolsets-over'] !== 'stdio',
    },
  };
}

function mismatchOf(headers: IncomingHttpHeaders, { method, params }: Request, version: string): string | undefined {
  const target = namedParams.get(method);
  return (
    differs('MCP-Protocol-Version', headers['mcp-protocol-version'], version) ??
    differs('Mcp-Method', headers['mcp-method'], method) ??
    (target === undefined ? undefined : differs('Mcp-Name', decoded(headers['mcp-name']), params?.[target]))
  );
}

function differs(name: string, said: string | string[] | undefined, meant: unknown): string | undefined {
  if (said === undefined) return `The header ${name} is missing.`;
  return said === meant ? undefined : `The header ${name} does not match the body.`;
}

function decoded(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? fromHeader(value) : undefined;
}

function invalid(message: string): Envelope {
  return wrong({ code: errorCodes.invalidParams, message });
}

function wrong(error: RpcError): Envelope {
  return { kind: 'wrong', error };
}
