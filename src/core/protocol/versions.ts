/** Our versions of the protocol, for clients (G2) and for servers (X3). */

/** The newest comes first, and we ask servers for it. */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export type ProtocolVersion = (typeof protocolVersions)[number];

export function isProtocolVersion(value: string): value is ProtocolVersion {
  return (protocolVersions as readonly string[]).includes(value);
}

/**
 * The first version without `initialize` and sessions: each request says its version and capabilities. The
 * specification calls it and later ones *modern*, and earlier ones *legacy*. Each is an *era*.
 */
export const modernVersion = '2026-07-28';

export type SpokenVersion = ProtocolVersion | typeof modernVersion;

export type Era = 'legacy' | 'modern';

/** Returns the version requested by the client, or else the newest. The client may accept it or end. */
export function negotiate(requested: string): ProtocolVersion {
  return isProtocolVersion(requested) ? requested : protocolVersions[0];
}

/** All messages of a batch are handled in one turn of the event loop, so larger batches are refused (S2). */
export const mostInBatch = 500;

/** A client with this many unread bytes gets none of the less important notifications (S2). */
export const mostUnread = 1 << 20;

/** True if a version allows batches, dropped in 2025-06-18. */
export function allowsBatches(version: SpokenVersion): boolean {
  return version === '2025-03-26' || version === '2024-11-05';
}
