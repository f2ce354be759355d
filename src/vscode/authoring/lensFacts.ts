/** Tells when lenses have to be computed again, without the YAML parser that computing them needs (P1). Everything here is pure. */
import type { ServerStatus } from '../../core/reconcile/status.js';

/** Returns what the lenses show of a server: they are refreshed only when this changes. */
export function lensFacts(server: ServerStatus): unknown {
  const { id, source, state, tools, offered, previous, approval, signIn } = server;
  return [id, source, state, tools.length, offered, previous, approval.kind, signIn];
}
