/** What a server offers now, as its lock has it, and the difference between both (S3d). Pure. */
import type { LockedOffer, ReviewedOffers } from '../approval/offerPrints.js';
import { andList } from '../base/text.js';
import { byCodeUnits } from '../base/canonicalJson.js';
import { english, filled } from '../base/language.js';
import type { RunningPackage } from '../packages/package.js';
import { lockedParts, type LockedPackage, type LockedServer } from './lockFile.js';

export function lockedServer(
  listed: ReviewedOffers,
  running: RunningPackage | undefined,
): LockedServer {
  const offers = new Map<string, LockedOffer>();
  for (const [of, { kind, original, digests }] of listed)
    if (digests) offers.set(of, { kind, original, digests });
  return { package: running && lockedPackage(running), offers };
}

/** The version that a server reports is no part of it, because a server may report any. */
function lockedPackage({ launcher, name, integrity, ...running }: RunningPackage): LockedPackage {
  const { pinned, requested, runs = pinned ? requested : undefined } = running;
  return {
    launcher,
    name,
    ...(runs !== undefined && { version: runs }),
    ...(integrity !== undefined && { integrity }),
  };
}

/** `name` has its kind. `how` completes “The tool …”. */
export interface Difference {
  readonly name: string;
  readonly how: string;
}

export function differencePhrase({ name, how }: Difference): string {
  return filled('{name} ({state})', { name, state: how });
}

export function differencesOf(lock: LockedServer, now: LockedServer): Difference[] {
  const keys = new Set([...lock.offers.keys(), ...now.offers.keys()]);
  const differences: Difference[] = [];
  for (const key of [...keys].sort(byCodeUnits)) {
    const was = lock.offers.get(key);
    const is = now.offers.get(key);
    const offer = is ?? was;
    if (!offer) continue;
    const { kind, original } = offer;
    const how = howChanged(kind, was?.digests, is?.digests);
    const name =
      kind === 'instructions'
        ? english`its instructions`
        : filled('{kind} "{name}"', { kind, name: original });
    if (how !== undefined) differences.push({ name, how });
  }
  return differences;
}

function howChanged(
  kind: LockedOffer['kind'],
  was: LockedOffer['digests'] | undefined,
  is: LockedOffer['digests'] | undefined,
): string | undefined {
  if (!was) return english`added`;
  if (!is) return english`removed`;
  const changed = lockedParts(kind).filter((_, index) => was[index] !== is[index]);
  return changed.length === 0 ? undefined : english`${andList(changed)} changed`;
}

/** Returns both packages if they differ. A version that is unknown differs from none. */
export function otherPackage(
  { package: was }: LockedServer,
  { package: is }: LockedServer,
): { readonly locked: string; readonly now: string } | undefined {
  if (!was || !is) return undefined;
  const isOther = (one: 'version' | 'integrity'): boolean => {
    const before = was[one];
    const now = is[one];
    return before !== undefined && now !== undefined && before !== now;
  };
  const isOtherVersion = isOther('version');
  const isOtherIntegrity = isOther('integrity');
  if (was.name === is.name && !isOtherVersion && !isOtherIntegrity) return undefined;
  const word = ({ name, version = '', integrity }: LockedPackage): string => {
    const shown = isOtherVersion || !isOtherIntegrity ? '' : `(${integrity})`;
    return `${name} ${version} ${shown}`.trimEnd();
  };
  return { locked: word(was), now: word(is) };
}
