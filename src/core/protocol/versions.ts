/** Lists the versions of the protocol that are spoken to clients (G2) and to servers (X3). */

/** The newest stands first, and servers are asked for it. */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export type ProtocolVersion = (typeof protocolVersions)[number];

export function isProtocolVersion(value: string): value is ProtocolVersion {
  return (protocolVersions as readonly string[]).includes(value);
}

/**
 * The version since which there is no `initialize` and no session, and each request says its version and capabilities
 * itself. The specification calls it and those after it *modern*, and those before it *legacy*; either is an *era*.
 */
export const modernVersion = '2026-07-28';

export type SpokenVersion = ProtocolVersion | typeof modernVersion;

export type Era = 'legacy' | 'modern';

/** Returns the version asked for, or else the newest: the client decides whether it can live with that. */
export function negotiate(requested: string): ProtocolVersion {
  return isProtocolVersion(requested) ? requested : protocolVersions[0];
}

/** All that a batch says is heard in one turn of the event loop; one of more messages is not read, whoever sends it (S2). */
export const mostInBatch = 500;

/** A client with this much unread, in bytes, is not told what may get lost (S2). */
export const mostUnread = 1 << 20;

/** Says whether a version allows arrays of messages, which came with JSON-RPC and went with 2025-06-18. */
export function allowsBatches(version: SpokenVersion): boolean {
  return version === '2025-03-26' || version === '2024-11-05';
}
