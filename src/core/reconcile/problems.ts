import { changePhrase, mostReviewed, type ChangedOffer } from '../approval/offerPrints.js';
import type { Problem } from '../base/problem.js';
import { shortList, clipped } from '../base/text.js';
import type { StartFailure } from '../connections/connection.js';
import type { SignInStatus } from '../connections/http/oauth/contract.js';
import { problem, type At } from '../tools/problems.js';

export function approvalPending(at: At, changed: boolean): Problem {
  const message = changed
    ? `The definition of "${at.server}" has changed and waits for your approval. Until then, its previous definition serves.`
    : `"${at.server}" waits for your approval before it starts.`;
  const fix = `Run “MCP Toolsets: Review Pending Servers…”, approve it in the sidebar, or run \`mcp-toolsets approve ${at.server}\`.`;
  return problem(at, 'approval-pending', 'information', message, fix);
}

export function signInProblems(at: At, status: SignInStatus): Problem[] {
  if (status.kind === 'needed') {
    const usualFix =
      'Run “MCP Toolsets: Sign In to Server”, which opens your browser. Without an editor, give the server an Authorization header.';
    const message = `"${at.server}" needs a sign-in. ${status.why}`;
    return [problem(at, 'sign-in-needed', 'error', message, status.fix ?? usualFix)];
  }
  if (status.kind === 'none' || status.lacks === undefined) return [];
  const message = `A call of "${at.server}" needed more rights than were granted: ${status.lacks}.`;
  const fix = 'Run “MCP Toolsets: Sign In to Server” to grant them. Everything else works without them.';
  return [problem(at, 'sign-in-needed', 'warning', message, fix)];
}

export function startFailed(at: At, { code, message, fix, path, instead }: StartFailure): Problem {
  return problem(at, code, 'error', `"${at.server}" ${message}`, fix, {
    ...(path.length > 0 && { place: at.places.value(path) }),
    ...(instead !== undefined && { instead }),
  });
}

export function connectionLost(at: At, cause: string): Problem {
  const message = `An instance of "${at.server}" ended unexpectedly: ${cause.replace(/\.$/, '')}.`;
  const fix =
    'No action needed if this was intended: the next call starts a new one. Otherwise read its last output in its log.';
  return problem(at, 'connection-lost', 'warning', message, fix);
}

export function refreshFailed(at: At, detail: string): Problem {
  const message = `"${at.server}" reported changed tools, but the new list could not be read: ${detail} The old list stays.`;
  return problem(at, 'refresh-failed', 'warning', message, 'Read its log, correct the cause, and restart it.');
}

export function appUnusable(at: At, uri: string, tools: readonly string[], fault: string): Problem {
  const names = tools.map((tool) => `"${tool}"`);
  const message = `The app ${uri} of "${at.server}" cannot be shown: ${fault}. It belongs to ${shortList(names, 5)}.`;
  const fix = 'Look at its log, or ask its author to correct it. The results of the tools are not affected.';
  return problem(at, 'app-unusable', 'warning', message, fix);
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
  const message = `"${at.server}" has changed what it offers since you let it start: ${shortList(shown, 5)}.${held}`;
  const fix = `Run “MCP Toolsets: Accept Changed Tools”, which shows the changes, or blacklist what you do not want. Without an editor, \`mcp-toolsets approve ${at.server}\` shows and accepts them.`;
  return problem(at, 'tools-changed', 'warning', message, fix);
}

export function resourcesNotReviewed(at: At): Problem {
  const message = `"${at.server}" lists more than ${mostReviewed} resources. Only the first ${mostReviewed} can be reviewed, so agents do not see the others while changes are held back.`;
  return problem(at, 'entry-left-out', 'warning', message, 'Let the server list fewer, or do not hold changes back.');
}
