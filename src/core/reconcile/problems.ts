import { changePhrase } from '../approval/changePhrase.js';
import { mostReviewed, type ChangedOffer } from '../approval/offerPrints.js';
import { groupedBy } from '../base/groupedBy.js';
import { english, filled } from '../base/language.js';
import type { Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import { signInCommand, withSignInCommand } from '../base/signInCommand.js';
import { shortList, clipped } from '../base/text.js';
import { differencePhrase, differencesOf, otherPackage } from '../lock/lockedServer.js';
import type { LockedServer } from '../lock/lockFile.js';
import type { ToLock } from '../lock/lockPlan.js';
import type { StartFailure } from '../connections/connection.js';
import type { SignInStatus } from '../connections/http/oauth/contract.js';
import type { At } from '../tools/problems.js';

const signInForMore = (): string =>
  english`Choose “Sign In to Server…” in “MCP Toolsets: Manage Server…” to grant them, or run ${signInCommand} outside the editor. Everything else works without them.`;
const usualFix = (): string =>
  english`Choose “Sign In to Server…” in “MCP Toolsets: Manage Server…”, which opens your browser. Outside the editor, run ${signInCommand}.`;

export function signInProblems(at: At, status: SignInStatus): Problem[] {
  if (status.kind === 'needed') {
    const fix = withSignInCommand(status.fix ?? usualFix(), at.server);
    return [problemOf('sign-in-needed', at, { why: status.why, fix })];
  }
  if (status.kind === 'none' || status.lacks === undefined) return [];
  const { lacks, fix = signInForMore() } = status;
  return [problemOf('sign-in-needed:lacks', at, { lacks, fix: withSignInCommand(fix, at.server) })];
}

export function startFailed(at: At, { code, message, fix, path, instead }: StartFailure): Problem {
  const place = path.length > 0 ? at.places.value(path) : at.places.key;
  const given = {
    said: message,
    fix,
    place,
    ...(instead !== undefined && { instead }),
  };
  // The codes of such failures have one text.
  return {
    ...problemOf('server-exited', at, given),
    code,
  };
}

export function lostConnection(
  at: At,
  { cause, count, final }: { readonly cause: string; readonly count: number; final: boolean },
): Problem {
  if (count < 2 && !final) return problemOf('connection-lost', at, { cause });
  const times = count < 2 ? 'again and again' : english`${count} times within a minute`;
  return problemOf('connection-lost:again', at, {
    cause,
    times,
  });
}

const longestName = 100;

export function offersChanged(at: At, all: readonly ChangedOffer[]): Problem[] {
  const held = all.some((offer) => offer.held) ? ' Agents do not see what changed.' : '';
  const groups = groupedBy(all, ({ isOfFile }) => isOfFile === true);
  return [...groups].map(([isOfFile, changed]) => {
    const shown = changed.map(({ kind, original, parts }) => {
      const name = clipped(original, longestName);
      if (isOfFile) return `\`${name}\``;
      const what =
        kind === 'instructions'
          ? english`its instructions`
          : filled('{kind} "{name}"', { kind, name });
      return differencePhrase({ name: what, how: changePhrase(parts) });
    });
    const given = { changes: shortList(shown, 5), held };
    if (!isOfFile) return problemOf('tools-changed', at, given);
    const place = at.places.keyAt(['tools', 'override', changed[0].original]);
    return problemOf('tools-changed:ofFile', at, { ...given, place });
  });
}

/** A list for clients that can do more may have more than the lock, so nothing of it is added. */
export function lockProblems(at: At, lock: LockedServer, now: ToLock): Problem[] {
  const found = differencesOf(lock, now.server).filter(({ how }) => how !== 'added' || now.isPlain);
  const changes = shortList(
    found.map(({ name, how }) => differencePhrase({ name: clipped(name, longestName), how })),
    20,
  );
  const other = otherPackage(lock, now.server);
  return [
    ...(other ? [problemOf('lock-version', at, other)] : []),
    ...(found.length > 0 ? [problemOf('lock-differs', at, { changes })] : []),
  ];
}

export function resourcesNotReviewed(at: At): Problem {
  return problemOf('entry-left-out:notReviewed', at, { most: mostReviewed });
}
