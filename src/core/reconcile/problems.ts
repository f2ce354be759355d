/** What goes wrong with a server that is configured well: problems of starting and running, at its entry (E1, X3). */
import { changePhrase, type ChangedOffer } from '../approval/offerPrints.js';
import type { Problem } from '../base/problem.js';
import { shortList } from '../base/shortList.js';
import { clipped } from '../base/text.js';
import type { ServerPlaces } from '../config/model.js';
import type { StartFailure } from '../connections/connection.js';

/** @param changed whether an earlier launch of this server serves on */
export function approvalPending(server: string, places: ServerPlaces, changed: boolean): Problem {
  return {
    code: 'approval-pending',
    severity: 'information',
    message: changed
      ? `What "${server}" starts has changed and waits for your approval; until then its previous definition serves.`
      : `"${server}" waits for your approval before it starts.`,
    fix: `Run “MCP Toolsets: Review Servers That Wait for Approval”, approve it in the sidebar, or run \`mcp-toolsets approve ${server}\`.`,
    place: places.key,
    server,
  };
}

/** @param why a sentence */
export function signInNeeded(server: string, places: ServerPlaces, why: string): Problem {
  return {
    code: 'sign-in-needed',
    severity: 'error',
    message: `"${server}" wants a sign-in. ${why}`,
    fix: 'Run “MCP Toolsets: Sign In to Server”, which opens your browser; where there is no editor, give the server an Authorization header.',
    place: places.key,
    server,
  };
}

export function rightsLacking(server: string, places: ServerPlaces, scope: string): Problem {
  return {
    code: 'sign-in-needed',
    severity: 'warning',
    message: `A call of "${server}" needed more rights than were granted: ${scope}.`,
    fix: 'Run “MCP Toolsets: Sign In to Server” to grant them; all else goes on without.',
    place: places.key,
    server,
  };
}

export function startFailed(server: string, places: ServerPlaces, failure: StartFailure): Problem {
  return {
    code: failure.code,
    severity: 'error',
    message: failure.message,
    fix: failure.fix,
    place: failure.path.length > 0 ? places.value(failure.path) : places.key,
    server,
    ...(failure.instead !== undefined && { instead: failure.instead }),
  };
}

export function connectionLost(server: string, places: ServerPlaces, cause: string): Problem {
  return {
    code: 'connection-lost',
    severity: 'warning',
    message: `An instance of "${server}" ended by itself: ${cause.replace(/\.$/, '')}.`,
    fix: 'Nothing, if this was intended: the next call starts a new one. Otherwise read its log for what it wrote last.',
    place: places.key,
    server,
  };
}

export function refreshFailed(server: string, places: ServerPlaces, detail: string): Problem {
  return {
    code: 'refresh-failed',
    severity: 'warning',
    message: `"${server}" said that its tools changed, but the new list could not be taken: ${detail} The old list stays.`,
    fix: 'Read its log, and restart it when it works again.',
    place: places.key,
    server,
  };
}

/** @param fault a phrase that says what is wrong with the page */
export function appUnusable(
  server: string,
  places: ServerPlaces,
  uri: string,
  tools: readonly string[],
  fault: string,
): Problem {
  const names = tools.map((tool) => `"${tool}"`);
  return {
    code: 'app-unusable',
    severity: 'warning',
    message: `The app ${uri} of "${server}" cannot be shown: ${fault}. It belongs to ${shortList(names, 5)}.`,
    fix: 'Have the server corrected, or look at its log. The results of the tools are not affected.',
    place: places.key,
    server,
  };
}

/** Prompts may have names of any length. */
const longestName = 100;

/** @param changed never empty */
export function offersChanged(server: string, places: ServerPlaces, changed: readonly ChangedOffer[]): Problem {
  const shown = changed.map(({ kind, original, parts }) =>
    kind === 'instructions'
      ? `its instructions (${changePhrase(parts)})`
      : `${kind} "${clipped(original, longestName)}" (${changePhrase(parts)})`,
  );
  const held = changed.some((offer) => offer.held);
  return {
    code: 'tools-changed',
    severity: 'warning',
    message: `What "${server}" offers is not what it was when you let it start: ${shortList(shown, 5)}.${held ? ' Agents do not see what changed.' : ''}`,
    fix: `Run “MCP Toolsets: Accept Changed Tools”, which shows what it says now, or blacklist it. Where there is no editor, \`mcp-toolsets approve ${server}\` shows and accepts it.`,
    place: places.key,
    server,
  };
}
