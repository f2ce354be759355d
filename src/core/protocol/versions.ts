/** Our versions of the protocol, for clients (G2) and for servers (X3), and constants of both sides. */
import { isObject } from '../base/isObject.js';
import type { Fields } from './client.js';

/** The newest comes first, and we ask servers for it. */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export type ProtocolVersion = (typeof protocolVersions)[number];

export function isProtocolVersion(value: string): value is ProtocolVersion {
  return (protocolVersions as readonly string[]).includes(value);
}

/** The first version without `initialize` and sessions. It and later ones are *modern*, earlier ones *legacy*. */
export const modernVersion = '2026-07-28';

export type SpokenVersion = ProtocolVersion | typeof modernVersion;

export type Era = 'legacy' | 'modern';

/** The client may accept another version or end. */
export function negotiate(requested: string): ProtocolVersion {
  return isProtocolVersion(requested) ? requested : protocolVersions[0];
}

/** All messages of a batch are handled in one turn of the event loop, so larger batches are refused (S2). */
export const mostInBatch = 500;

/** A client with this many unread bytes gets none of the less important notifications (S2). */
export const mostUnread = 1 << 20;

/** Batches were dropped in 2025-06-18. */
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
} as const;

/** Returns the `_meta` of parameters or of a result; empty without one. */
export function metaOf(fields: Fields | undefined): Fields {
  const meta = fields?.['_meta'];
  return isObject(meta) ? meta : {};
}

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export function isLogLevel(value: unknown): value is string {
  return levels.includes(value as string);
}

/** Returns the rank of a level: the greater, the rarer. Without a level, a client ranks above all. */
export function logLevelRank(level: string | undefined): number {
  return level === undefined ? levels.length : levels.indexOf(level);
}

/** @param least undefined if the client has not said, so it gets everything from the server */
export function isLoudEnough(level: unknown, least: string | undefined): boolean {
  return least === undefined || !isLogLevel(level) || logLevelRank(level) >= logLevelRank(least);
}
