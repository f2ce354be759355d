import { changePhrase, mostReviewed, type ChangedOffer } from '../approval/offerPrints.js';
import type { Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import { shortList, clipped } from '../base/text.js';
import type { StartFailure } from '../connections/connection.js';
import type { SignInStatus } from '../connections/http/oauth/contract.js';
import type { At } from '../tools/problems.js';

const signInForMore =
  'Run “MCP Toolsets: Sign In to Server” to grant them. Everything else works without them.';

export function signInProblems(at: At, status: SignInStatus): Problem[] {
  if (status.kind === 'needed') {
    const usualFix =
      'Run “MCP Toolsets: Sign In to Server”, which opens your browser. Without an editor, give the server an Authorization header.';
    return [problemOf('sign-in-needed', at, { why: status.why, fix: status.fix ?? usualFix })];
  }
  if (status.kind === 'none' || status.lacks === undefined) return [];
  const { lacks, fix = signInForMore } = status;
  return [problemOf('sign-in-needed:lacks', at, { lacks, fix })];
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
  return { ...problemOf('server-exited', at, given), code };
}

const longestName = 100;

/** @param changed never empty */
export function offersChanged(at: At, changed: readonly ChangedOffer[]): Problem {
  const shown = changed.map(({ kind, original, parts }) =>
    kind === 'instructions'
      ? `its instructions (${changePhrase(parts)})`
      : `${kind} "${clipped(original, longestName)}" (${changePhrase(parts)})`,
  );
  const held = changed.some((offer) => offer.held) ? ' Agents do not see what changed.' : '';
  return problemOf('tools-changed', at, { changes: shortList(shown, 5), held });
}

export function resourcesNotReviewed(at: At): Problem {
  return problemOf('entry-left-out:notReviewed', at, { most: mostReviewed });
}
