/** Tells when the lenses change. The lenses need the YAML parser, and this module does not (P1). Pure. */
import type { ServerStatus } from '../../core/reconcile/status.js';

/** Returns the parts of a server that its lenses show. */
export function lensFacts(server: ServerStatus): unknown {
  const { id, source, state, tools, offered, previous, approval, signIn } = server;
  return [id, source, state, tools.length, offered, previous, approval.kind, signIn];
}
