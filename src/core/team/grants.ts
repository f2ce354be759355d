/**
 * Decides the toolsets of a team member (D2) under the present configuration. `!id` counts anywhere
 * in the list.
 */

export const teamPath = '.minds/team.yaml';

export type Grant =
  | { readonly kind: 'all' }
  | { readonly kind: 'toolset'; readonly id: string }
  | { readonly kind: 'except'; readonly id: string };

export interface ConfiguredToolset {
  readonly id: string;
  /** Completes "its server is …" for a toolset without tools. Undefined if it has tools. */
  readonly down: string | undefined;
}

/** @param grants undefined without a member, for everything */
export function grantedOf(
  grants: readonly Grant[] | undefined,
  configured: readonly ConfiguredToolset[],
) {
  const known = new Set(configured.map(({ id }) => id));
  const taken = configured.filter(({ id }) => grants === undefined || includes(grants, id));
  return {
    toolsets: taken.filter(({ down }) => down === undefined).map(({ id }) => id),
    deferred: taken.flatMap(({ id, down }) => (down === undefined ? [] : [{ id, why: down }])),
    unknown: (grants ?? []).flatMap((grant) =>
      grant.kind !== 'all' && !known.has(grant.id) ? [grant.id] : [],
    ),
  };
}

function includes(grants: readonly Grant[], id: string): boolean {
  if (grants.some((grant) => grant.kind === 'except' && grant.id === id)) return false;
  return grants.some(
    (grant) => grant.kind === 'all' || (grant.kind === 'toolset' && grant.id === id),
  );
}

export function grantOf(written: string): Grant {
  if (written === '*') return { kind: 'all' };
  return written.startsWith('!')
    ? { kind: 'except', id: written.slice(1).trim() }
    : { kind: 'toolset', id: written };
}
