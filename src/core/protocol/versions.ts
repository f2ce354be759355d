/**
 * Our versions of the protocol, for clients (G2) and for servers (X3), with keys in `_meta`, log
 * levels and tasks.
 */
import { asFields, isObject, without, type Fields } from '../base/isObject.js';
import { errorCodes, type RpcError } from './errors.js';

/** The newest comes first, and we ask servers for it. */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export type ProtocolVersion = (typeof protocolVersions)[number];

export function isProtocolVersion(value: string): value is ProtocolVersion {
  return (protocolVersions as readonly string[]).includes(value);
}

/**
 * The first version without `initialize` and sessions. It and later ones are *modern*, earlier ones
 * *legacy*.
 */
export const modernVersion = '2026-07-28';

export type SpokenVersion = ProtocolVersion | typeof modernVersion;

export type Era = 'legacy' | 'modern';

/** The client may accept another version or end. */
export function negotiate(requested: string): ProtocolVersion {
  return isProtocolVersion(requested) ? requested : protocolVersions[0];
}

/**
 * All messages of a batch are handled in one turn of the event loop, so larger batches are refused
 * (S2b).
 */
export const mostInBatch = 500;

/** A client with this many unread bytes gets none of the less important notifications (G2a). */
export const mostUnread = 1 << 20;

export function allowsBatches(version: SpokenVersion): boolean {
  return version === '2025-03-26' || version === '2024-11-05';
}

/** Keys in `_meta` of requests, results and notifications since 2026-07-28. */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  /**
   * Our own, in `list_changed` of a revived session: the gateway does not know what the client has
   * read.
   */
  mayBeSame: 'mcp-toolsets/mayBeSame',
} as const;

export function metaOf(fields: Fields | undefined): Fields {
  const meta = fields?.['_meta'];
  return asFields(meta);
}

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export function isLogLevel(value: unknown): value is string {
  return levels.includes(value as string);
}

/**
 * Returns the rank of a level: the greater, the rarer. Without a level, a client ranks above all.
 */
export function logLevelRank(level: string | undefined): number {
  return level === undefined ? levels.length : levels.indexOf(level);
}

/** @param least undefined if the client has not said, so it gets everything from the server */
export function isLoudEnough(level: unknown, least: string | undefined): boolean {
  return least === undefined || !isLogLevel(level) || logLevelRank(level) >= logLevelRank(least);
}

/** A server of 2026-07-28 may answer a call with a task before its result. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

export const taskMethods: readonly string[] = ['tasks/get', 'tasks/update', 'tasks/cancel'];

/**
 * Only inside this program, for `subscriptions/listen`: a client begins and ends to watch the task
 * in `taskId`.
 */
export const watchTask = 'tasks/watch';
export const unwatchTask = 'tasks/unwatch';

/** With all fields of `tasks/get`. */
export const taskChanged = 'notifications/tasks';

export function isAboutTask(method: string): boolean {
  return method === watchTask || taskMethods.includes(method);
}

export function knowsTasks({ extensions }: { readonly extensions?: unknown }): boolean {
  return isObject(asFields(extensions)[tasksExtension]);
}

/** Returns the id of the task answering a call; undefined if the answer is a result. */
export function taskIn(result: object): string | undefined {
  const { resultType, taskId } = asFields(result);
  return resultType === 'task' && isKeptId(taskId) ? taskId : undefined;
}

/**
 * True if a tool of a 2025-11-25 server must be called as a task, a different feature in this
 * version.
 */
export function needsTask({ execution }: { readonly execution?: unknown }): boolean {
  return asFields(execution)['taskSupport'] === 'required';
}

/** True if an answer to `tasks/get` is the last report of the task. */
export function isFinal({ status }: Fields): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

export function resultOfTask({ status, result }: Fields): Fields | undefined {
  return status === 'completed' && isObject(result) ? result : undefined;
}

export function withoutTasks(declared: Fields): Fields {
  if (!knowsTasks(declared)) return declared;
  return { ...declared, extensions: without(declared['extensions'] as Fields, tasksExtension) };
}

export const tasksNotDeclared: RpcError = {
  code: errorCodes.missingCapability,
  message: 'The client has not declared that it supports tasks.',
  data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
};

/** Longer ids are not kept. */
export function isKeptId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 1_024;
}
