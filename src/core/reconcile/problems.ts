/** Makes the problems of a valid entry: its start and its run failed (E1, X3). */
import { changePhrase, type ChangedOffer } from '../approval/offerPrints.js';
import type { Problem } from '../base/problem.js';
import { shortList, clipped } from '../base/text.js';
import type { ServerPlaces } from '../config/model.js';
import type { StartFailure } from '../connections/connection.js';

/** @param changed true if an earlier launch of this server still serves */
export function approvalPending(server: string, places: ServerPlaces, changed: boolean): Problem {
  return {
    code: 'approval-pending',
    severity: 'information',
    message: changed
      ? `The definition of "${server}" has changed and waits for your approval. Until then, its previous definition serves.`
      : `"${server}" waits for your approval before it starts.`,
    fix: `Run “MCP Toolsets: Review Pending Servers…”, approve it in the sidebar, or run \`mcp-toolsets approve ${server}\`.`,
    place: places.key,
    server,
  };
}

/**
 * @param why a sentence
 * @param fix the next step, if a person cannot sign in in a browser
 */
export function signInNeeded(server: string, places: ServerPlaces, why: string, fix?: string): Problem {
  return {
    code: 'sign-in-needed',
    severity: 'error',
    message: `"${server}" needs a sign-in. ${why}`,
    fix:
      fix ??
      'Run “MCP Toolsets: Sign In to Server”, which opens your browser. Without an editor, give the server an Authorization header.',
    place: places.key,
    server,
  };
}

export function rightsLacking(server: string, places: ServerPlaces, scope: string): Problem {
  return {
    code: 'sign-in-needed',
    severity: 'warning',
    message: `A call of "${server}" needed more rights than were granted: ${scope}.`,
    fix: 'Run “MCP Toolsets: Sign In to Server” to grant them. Everything else works without them.',
    place: places.key,
    server,
  };
}

export function startFailed(server: string, places: ServerPlaces, failure: StartFailure): Problem {
  return {
    code: failure.code,
    severity: 'error',
    message: `"${server}" ${failure.message}`,
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
    message: `An instance of "${server}" ended unexpectedly: ${cause.replace(/\.$/, '')}.`,
    fix: 'No action needed if this was intended: the next call starts a new one. Otherwise read its last output in its log.',
    place: places.key,
    server,
  };
}

export function refreshFailed(server: string, places: ServerPlaces, detail: string): Problem {
  return {
    code: 'refresh-failed',
    severity: 'warning',
    message: `"${server}" reported changed tools, but the new list could not be read: ${detail} The old list stays.`,
    fix: 'Read its log, correct the cause, and restart it.',
    place: places.key,
    server,
  };
}

/** @param fault a phrase */
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
    fix: 'Look at its log, or ask its author to correct it. The results of the tools are not affected.',
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
    message: `"${server}" has changed what it offers since you let it start: ${shortList(shown, 5)}.${held ? ' Agents do not see what changed.' : ''}`,
    fix: `Run “MCP Toolsets: Accept Changed Tools”, which shows the changes, or blacklist what you do not want. Without an editor, \`mcp-toolsets approve ${server}\` shows and accepts them.`,
    place: places.key,
    server,
  };
}
