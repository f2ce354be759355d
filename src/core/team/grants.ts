/**
 * Decides which toolsets a member of the team has (D2), given what is configured now. Everything here is pure.
 *
 * `*` grants every toolset, `!id` takes one away wherever it stands in the list. Invariant: what nobody granted is not
 * granted; what is configured and not up is deferred, never unknown.
 */

export type Grant =
  | { readonly kind: 'all' }
  | { readonly kind: 'toolset'; readonly id: string }
  | { readonly kind: 'except'; readonly id: string };

export interface ConfiguredToolset {
  readonly id: string;
  /** Says why it has no tools now, completing "its server is …"; it is undefined if it has tools. */
  readonly down: string | undefined;
}

interface Granted {
  /** The toolsets in the order of `configured`. */
  readonly toolsets: readonly string[];
  readonly deferred: readonly { readonly id: string; readonly why: string }[];
  /** The ids that are named and not configured, in the order of the grants. */
  readonly unknown: readonly string[];
}

/** @param grants undefined: nobody in particular, who has everything */
export function grantedOf(grants: readonly Grant[] | undefined, configured: readonly ConfiguredToolset[]): Granted {
  const known = new Set(configured.map(({ id }) => id));
  const taken = configured.filter(({ id }) => grants === undefined || includes(grants, id));
  return {
    toolsets: taken.filter(({ down }) => down === undefined).map(({ id }) => id),
    deferred: taken.flatMap(({ id, down }) => (down === undefined ? [] : [{ id, why: down }])),
    unknown: (grants ?? []).flatMap((grant) => (grant.kind !== 'all' && !known.has(grant.id) ? [grant.id] : [])),
  };
}

function includes(grants: readonly Grant[], id: string): boolean {
  if (grants.some((grant) => grant.kind === 'except' && grant.id === id)) return false;
  return grants.some((grant) => grant.kind === 'all' || (grant.kind === 'toolset' && grant.id === id));
}

export function grantOf(written: string): Grant {
  if (written === '*') return { kind: 'all' };
  return written.startsWith('!') ? { kind: 'except', id: written.slice(1).trim() } : { kind: 'toolset', id: written };
}
