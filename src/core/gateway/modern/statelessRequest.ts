/**
 * Reads a modern request's statements about itself, in `_meta` and in headers, and their faults (X8, G2). Everything
 * here is pure.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../base/isObject.js';
import type { Fields } from '../../protocol/client.js';
import { errorCodes, type RpcError } from '../../protocol/errors.js';
import { isLogLevel } from '../../protocol/logLevels.js';
import { fromHeader, namedParams } from '../../protocol/mirroredParams.js';
import { metaKeys, metaOf } from '../../protocol/requestMeta.js';
import { modernVersion, protocolVersions } from '../../protocol/versions.js';
import type { Message } from '../../protocol/jsonRpc.js';

type Request = Extract<Message, { kind: 'request' }>;

export interface StatelessTraits {
  readonly clientInfo: unknown;
  readonly declared: Fields;
  readonly logLevel: string | undefined;
  readonly begunElsewhere: boolean;
  /** True if the client mirrors parameters of tools in headers. Every client over HTTP does. */
  readonly mirrors: boolean;
}

type Envelope =
  | { readonly kind: 'right'; readonly traits: StatelessTraits }
  | { readonly kind: 'wrong'; readonly error: RpcError };

/**
 * Every modern request names its version; in the legacy era, only the session and its header do. An `initialize` is
 * modern only if header and body agree, because it probably comes from a client of both eras.
 */
export function isStateless(headers: IncomingHttpHeaders, message: Message): message is Request {
  if (message.kind !== 'request') return false;
  const byHeader = headers['mcp-protocol-version'] === modernVersion;
  const inBody = metaOf(message.params)[metaKeys.protocolVersion];
  return message.method === 'initialize' ? byHeader && inBody === modernVersion : byHeader || inBody !== undefined;
}

/** True if the conversation had begun at another gateway, or in an earlier run. */
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
