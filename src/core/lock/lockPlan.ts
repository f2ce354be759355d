/** The lock that the present lists of servers would give (S3d). Pure. */
import type { ReviewedOffers } from '../approval/offerPrints.js';
import { english } from '../base/language.js';
import type { SourceOrigin } from '../config/model.js';
import { writtenLock, type Lock, type LockedServer } from './lockFile.js';
import { differencesOf, otherPackage, type Difference } from './lockedServer.js';

/** What a lock would hold of a server. */
export interface ToLock {
  readonly server: LockedServer;
  /** True if it is the list for a client without capabilities, which a lock holds. */
  readonly isPlain: boolean;
  readonly offers: ReviewedOffers;
}

interface Lockable {
  readonly id: string;
  readonly origin: SourceOrigin;
  readonly state: { readonly kind: string };
  /** Returns undefined until the server has listed everything. */
  toLock(): ToLock | undefined;
}

export interface LockPlan {
  readonly text: string;
  readonly changes: readonly (Difference & { readonly server: string })[];
  /** The chosen servers that could not be locked. Their entries stay. */
  readonly unlisted: readonly string[];
}

/**
 * @param servers of the config files of a folder, without the layer of a person
 * @param names of the chosen servers. Without names, all are chosen, and the others leave the lock.
 */
export function planLock(
  servers: readonly Lockable[],
  before: Lock,
  names: readonly string[] = [],
): LockPlan {
  const lock = new Map(names.length > 0 ? before : []);
  const changes: LockPlan['changes'][number][] = [];
  const unlisted: string[] = [];
  for (const { id, origin, state, toLock } of servers) {
    const was = before.get(id);
    if (was) lock.set(id, was);
    const isChosen = names.length === 0 || names.includes(id);
    if (!isChosen || !isLocked(origin) || state.kind === 'disabled') continue;
    const now = toLock();
    if (now?.isPlain) {
      lock.set(id, withKnown(was, now.server));
      for (const change of changesOf(was, now)) changes.push({ server: id, ...change });
    } else unlisted.push(id);
  }
  for (const id of before.keys())
    if (!lock.has(id))
      changes.push({ server: id, name: english`the server`, how: english`removed` });
  return { text: writtenLock(lock), changes, unlisted };
}

/** The user's own file and the layer are no files of the team. */
export function isLocked(origin: SourceOrigin): boolean {
  return origin === 'folder' || origin === 'mcprc';
}

/** If the version that runs is not known, the entry keeps what another machine wrote. */
function withKnown(was: LockedServer | undefined, now: LockedServer): LockedServer {
  const isOther = was !== undefined && otherPackage(was, now) !== undefined;
  if (!was?.package || !now.package || isOther) return now;
  return { ...now, package: { ...was.package, ...now.package } };
}

function changesOf(was: LockedServer | undefined, now: ToLock): readonly Difference[] {
  if (!was) return [{ name: english`the server`, how: english`added` }];
  const differences = differencesOf(was, now.server);
  const other = otherPackage(was, now.server);
  if (!other) return differences;
  const ofPackage = {
    name: english`its package`,
    how: english`${other.now}, before ${other.locked}`,
  };
  return [ofPackage, ...differences];
}
