/**
 * Writes messages in the client's protocol version (G2). Newer fields, kinds of content and
 * questions are left out or take an older form. `_meta` of entries and content exists since
 * 2025-06-18, every other `_meta` in all versions.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { isObject, without } from '../base/isObject.js';
import { asText } from '../base/text.js';
import type { Fields } from '../protocol/client.js';
import { errorCodes, RpcFailure, type RpcError } from '../protocol/errors.js';
import {
  taskChanged,
  withoutTasks,
  modernVersion,
  protocolVersions,
  type ProtocolVersion,
  type SpokenVersion,
} from '../protocol/versions.js';

const [newest] = protocolVersions;

/** Versions are dates, so text order is their order. */
export function isAtLeast(version: SpokenVersion, first: SpokenVersion): boolean {
  return version >= first;
}

export function clientCapabilities(version: ProtocolVersion, said: Fields): Fields {
  // Tasks are an extension since 2026-07-28, and were different before.
  const declared = withoutTasks(said);
  if (isAtLeast(version, newest)) return declared;
  const { elicitation, sampling, ...rest } = declared;
  return {
    ...rest,
    ...(isObject(sampling) && { sampling: {} }),
    ...(isObject(elicitation) && isAtLeast(version, '2025-06-18') && { elicitation: {} }),
  };
}

/** The names in `clientInfo` of Claude Code 2.1.330 and Codex 0.169.0. */
const structureReaders: readonly unknown[] = ['claude-code', 'codex-mcp-client'];

/**
 * With a note, such a client gets the structure as text, so its tools are listed without
 * `outputSchema`.
 */
export function readsStructureAlone(clientInfo: unknown): boolean {
  return isObject(clientInfo) && structureReaders.includes(clientInfo['name']);
}

/** Before 2025-03-26, servers had completions without a capability. */
export function serverCapabilities(
  version: SpokenVersion,
  { completions, ...rest }: Fields,
): Fields {
  return completions !== undefined && isAtLeast(version, '2025-03-26')
    ? { ...rest, completions }
    : rest;
}

export function entries<Entry extends object>(
  version: SpokenVersion,
  list: readonly Entry[],
): readonly Entry[] {
  return isAtLeast(version, newest)
    ? list
    : list.map((entry) => plainer(version, entry as Fields) as Entry);
}

function plainer(version: SpokenVersion, entry: Fields): Fields {
  const known = without(entry, 'icons', 'execution');
  if (isAtLeast(version, '2025-06-18')) return known;
  const {
    annotations,
    arguments: given,
    ...older
  } = without(known, 'title', 'outputSchema', '_meta');
  const isTool = 'inputSchema' in entry;
  const keepsAnnotations = isObject(annotations) && (!isTool || isAtLeast(version, '2025-03-26'));
  return {
    ...older,
    ...(Array.isArray(given) && { arguments: given.map((each) => trimmed(each, 'title')) }),
    ...(keepsAnnotations && {
      annotations: isTool ? annotations : without(annotations, 'lastModified'),
    }),
  };
}

export function toolResult(version: SpokenVersion, result: CallToolResult): CallToolResult {
  if (version === modernVersion) return result;
  const isNewest = isAtLeast(version, newest);
  // Since 2026-07-28 it may be any value. Older clients would drop the whole result.
  const isObjectAtMost =
    result.structuredContent === undefined || isObject(result.structuredContent);
  if (isNewest && isObjectAtMost) return result;
  const { structuredContent, ...rest } = result;
  const content = isNewest
    ? rest.content
    : (rest.content.map((part) => contentPart(version, part)) as CallToolResult['content']);
  if (structuredContent === undefined) return { ...rest, content };
  if (isObjectAtMost && isAtLeast(version, '2025-06-18'))
    return {
      ...rest,
      content,
      structuredContent,
    };
  const isTold = content.some(({ type }) => type === 'text');
  return {
    ...rest,
    content: isTold ? content : [...content, text(JSON.stringify(structuredContent))],
  };
}

/**
 * Returns a modern result with its envelope. A copy of the result would cost all who read it (P3).
 * @param json not empty
 */
export function enveloped(json: string, serverMeta: Fields, hints = ''): string {
  return `{"resultType":"complete",${hints}"_meta":${JSON.stringify(serverMeta)},${json.slice(1)}`;
}

/** Clients keep no result with these hints, because an edit may change it at once (X8e). */
export const notToBeKept = { ttlMs: 0, cacheScope: 'private' } as const;

/** @param isForOne true if another conversation may get another result */
export function otherResult(version: SpokenVersion, result: Fields, isForOne: boolean): Fields {
  if (version === modernVersion) {
    const hints = 'contents' in result ? (isForOne ? notToBeKept : hintsOf(result)) : {};
    return {
      ...result,
      ...hints,
      resultType: 'complete',
    };
  }
  const known =
    'ttlMs' in result || 'cacheScope' in result ? without(result, 'ttlMs', 'cacheScope') : result;
  if (isAtLeast(version, newest)) return known;
  const { messages, contents } = known;
  return {
    ...known,
    ...(Array.isArray(messages) && {
      messages: messages.map((each: unknown) =>
        isObject(each) ? { ...each, content: contentPart(version, each['content']) } : each,
      ),
    }),
    ...(Array.isArray(contents) && {
      contents: contents.map((each) => resourceContents(version, each)),
    }),
  };
}

/** A server may send nonsense, or nothing as older versions do. */
function hintsOf({ ttlMs, cacheScope }: Fields): Fields {
  const isTime = typeof ttlMs === 'number' && Number.isInteger(ttlMs) && ttlMs >= 0;
  return isTime
    ? { ttlMs, cacheScope: cacheScope === 'public' ? 'public' : 'private' }
    : notToBeKept;
}

/** Since 2026-07-28, a missing resource and pages to open have no error codes. */
export function errorIn(version: SpokenVersion, error: RpcError): RpcError {
  if (version !== modernVersion) return error;
  if (error.code === errorCodes.resourceNotFound)
    return { ...error, code: errorCodes.invalidParams };
  return error.code === errorCodes.pagesRequired ? { ...error, code: errorCodes.internal } : error;
}

export function statusOf(version: SpokenVersion, { code }: RpcError): number {
  return version === modernVersion && code === errorCodes.missingCapability ? 400 : 200;
}

function resourceContents(version: SpokenVersion, contents: unknown): unknown {
  return isAtLeast(version, '2025-06-18') ? contents : trimmed(contents, '_meta');
}

function contentPart(version: SpokenVersion, part: unknown): unknown {
  if (!isObject(part)) return part;
  if (isAtLeast(version, '2025-06-18')) return without(part, 'icons');
  const { annotations, ...rest } = without(part, '_meta');
  const marked = isObject(annotations) ? { annotations: without(annotations, 'lastModified') } : {};
  const { type, data, mimeType } = rest;
  if (type === 'resource_link') return { ...text(linkText(rest)), ...marked };
  if (type === 'resource')
    return {
      ...rest,
      resource: resourceContents(version, rest['resource']),
      ...marked,
    };
  if (type !== 'audio' || isAtLeast(version, '2025-03-26')) return { ...rest, ...marked };
  return {
    type: 'resource',
    resource: {
      uri: 'mcp-toolsets://content/audio',
      mimeType,
      blob: data,
    },
    ...marked,
  };
}

function linkText({ uri, name, description, mimeType }: Fields): string {
  const about = [mimeType, description]
    .filter((each) => typeof each === 'string' && each !== '')
    .map(asText)
    .join(', ');
  return `Resource ${asText(name)}: ${asText(uri)}${about === '' ? '' : ` (${about})`}`;
}

function text(value: string): { type: 'text'; text: string } {
  return { type: 'text', text: value };
}

/** Throws the error for the server if the version cannot express the request. */
export function clientRequest(
  version: SpokenVersion,
  method: string,
  params: Fields | undefined,
): Fields | undefined {
  if (version === modernVersion) return params && inputRequest(params);
  if (isAtLeast(version, newest) || !params) return params;
  if (method === 'sampling/createMessage') return samplingRequest(version, params);
  return method === 'elicitation/create' ? formRequest(params) : params;
}

/** Since 2026-07-28 a question has no progress, and its key is its only id. */
function inputRequest({ _meta: meta, elicitationId: _, ...rest }: Fields): Fields {
  const kept = isObject(meta) ? without(meta, 'progressToken') : {};
  return Object.keys(kept).length > 0 ? { ...rest, _meta: kept } : rest;
}

function samplingRequest(version: SpokenVersion, { messages, ...rest }: Fields): Fields {
  const list = Array.isArray(messages) ? (messages as unknown[]) : [];
  return {
    ...without(rest, 'tools', 'toolChoice'),
    messages: list.flatMap((message) => samplingMessages(version, message)),
  };
}

/** One message may have held several parts. */
function samplingMessages(version: SpokenVersion, message: unknown): unknown[] {
  if (!isObject(message)) return [message];
  const { content, ...rest } = without(message, '_meta');
  const parts: unknown[] = Array.isArray(content) ? content : [content];
  return parts.map((part) => {
    const type = isObject(part) ? asText(part['type']) : 'nothing';
    const known = ['text', 'image', ...(isAtLeast(version, '2025-03-26') ? ['audio'] : [])];
    if (!known.includes(type)) throw unsaid(`a message with content of type "${type}"`);
    return { ...rest, content: contentPart(version, part) };
  });
}

/** Version 2025-06-18, the first with forms, has texts, numbers, booleans and choices of one. */
function formRequest(params: Fields): Fields {
  const { requestedSchema, ...rest } = without(params, 'mode');
  if (!isObject(requestedSchema) || !isObject(requestedSchema['properties']))
    return { ...rest, requestedSchema };
  const properties = Object.entries(requestedSchema['properties']).map(([name, field]) => [
    name,
    formField(field),
  ]);
  return {
    ...rest,
    requestedSchema: { ...requestedSchema, properties: Object.fromEntries(properties) },
  };
}

function formField(field: unknown): unknown {
  if (!isObject(field)) return field;
  if (field['type'] === 'array') throw unsaid('a field of several choices');
  const { oneOf, ...rest } = field;
  const plain = field['type'] === 'boolean' ? rest : without(rest, 'default');
  if (!Array.isArray(oneOf)) return plain;
  const choices = oneOf.filter(isObject);
  return {
    ...plain,
    enum: choices.map((choice) => choice['const']),
    enumNames: choices.map((choice) => choice['title'] ?? asText(choice['const'])),
  };
}

function unsaid(what: string): RpcFailure {
  return new RpcFailure(
    errorCodes.invalidParams,
    `The client that is asked speaks a protocol without ${what}.`,
  );
}

const toldToAll: readonly string[] = ['notifications/message', 'notifications/resources/updated'];

export function isToldTo(version: SpokenVersion, notification: string): boolean {
  if (notification === 'notifications/elicitation/complete') return version === newest;
  return (
    toldToAll.includes(notification) || (notification === taskChanged && version === modernVersion)
  );
}

function trimmed(value: unknown, key: string): unknown {
  return isObject(value) ? without(value, key) : value;
}
