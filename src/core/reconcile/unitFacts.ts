/**
 * What is known of one server, as plain facts, and what the views make of them: state, problems, instances. Pure
 * functions over the facts; `ServerUnit` owns and changes them.
 */
import { assertNever } from '../base/assertNever.js';
import type { Problem } from '../base/problem.js';
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import type { Connection, StartFailure, ToolListing } from '../connections/connection.js';
import type { InstancePool } from '../connections/instancePool.js';
import type { Curation } from '../tools/curate.js';
import { connectionLost, refreshFailed, startFailed } from './problems.js';
import type { InstanceStatus, PreviousDefinition, ServerState } from './status.js';

/** What serves: the last definition that started, initialised and listed its tools. */
export interface Registration {
  readonly definition: ServerDefinition;
  readonly listing: ToolListing;
  readonly curated: Extract<Curation, { kind: 'curated' }>;
  readonly pool: InstancePool;
  readonly serverInfo: Connection['serverInfo'];
  readonly instructions: string | undefined;
  readonly since: number;
}

/** Why a definition does not serve, or what serves has trouble; `launchHash` tells which definition it is about. */
export type Trouble = { readonly launchHash: string; readonly since: number } & (
  | { readonly kind: 'startFailed'; readonly failure: StartFailure }
  | { readonly kind: 'refused'; readonly problems: readonly [Problem, ...Problem[]] }
  | { readonly kind: 'lost'; readonly cause: string }
);

/** Times are epoch milliseconds. */
export interface UnitFacts {
  readonly id: string;
  readonly wanted: ConfiguredServer | undefined;
  readonly registration: Registration | undefined;
  readonly startingSince: number | undefined;
  readonly stoppedSince: number | undefined;
  readonly idleSince: number | undefined;
  /** Since when what serves is not what the file says. */
  readonly divergedAt: number | undefined;
  readonly trouble: Trouble | undefined;
  readonly refreshTrouble: string | undefined;
}

/** Of a server for which nothing was undertaken yet. */
export function emptyFacts(server: ConfiguredServer): UnitFacts {
  return {
    id: server.id,
    wanted: server,
    registration: undefined,
    startingSince: undefined,
    stoppedSince: undefined,
    idleSince: undefined,
    divergedAt: undefined,
    trouble: undefined,
    refreshTrouble: undefined,
  };
}

export function describeTrouble(trouble: Trouble): { reason: string; fix: string } {
  switch (trouble.kind) {
    case 'startFailed':
      return { reason: trouble.failure.message, fix: trouble.failure.fix };
    case 'refused':
      return { reason: trouble.problems[0].message, fix: trouble.problems[0].fix };
    case 'lost':
      return { reason: trouble.cause, fix: 'The next call starts it again; its log says what it wrote last.' };
    default:
      return assertNever(trouble);
  }
}

export function stateOf(facts: UnitFacts): ServerState {
  const { wanted, registration, trouble } = facts;
  if (facts.stoppedSince !== undefined) return { kind: 'stopped', since: facts.stoppedSince };
  if (facts.startingSince !== undefined) return { kind: 'starting', since: facts.startingSince };
  if (wanted?.kind === 'valid' && !wanted.definition.enabled) return { kind: 'disabled' };
  const live = registration?.pool.live ?? [];
  if (live.length > 0) return { kind: 'running', since: Math.min(...live.map((instance) => instance.startedAt)) };
  const starting = registration?.pool.startingSince;
  if (starting !== undefined) return { kind: 'starting', since: starting };
  if (trouble && wanted?.kind === 'valid') return { kind: 'failed', since: trouble.since, ...describeTrouble(trouble) };
  if (registration) return { kind: 'idle', since: facts.idleSince ?? registration.since };
  return { kind: 'invalid' };
}

/** Set while what serves is not what the file says (spec R3). */
export function previousOf(facts: UnitFacts): PreviousDefinition | undefined {
  if (facts.divergedAt === undefined) return undefined;
  const since = facts.divergedAt;
  if (facts.wanted?.kind === 'invalid') return { since, reason: 'Its new definition has an error.' };
  if (facts.startingSince !== undefined) return { since, reason: 'Its new definition is starting.' };
  return {
    since,
    reason: facts.trouble ? describeTrouble(facts.trouble).reason : 'Its new definition was not applied.',
  };
}

export function problemsOf(facts: UnitFacts): readonly Problem[] {
  const { id, wanted, registration, trouble } = facts;
  const problems: Problem[] = [];
  // The problems of a definition that is no longer in the file have no place there.
  if (registration && facts.divergedAt === undefined) problems.push(...registration.curated.problems);
  const places = wanted?.kind === 'valid' ? wanted.definition.places : wanted?.places;
  if (!places) return problems;
  if (facts.refreshTrouble !== undefined) problems.push(refreshFailed(id, places, facts.refreshTrouble));
  switch (trouble?.kind) {
    case undefined:
      break;
    case 'startFailed':
      problems.push(startFailed(id, places, trouble.failure));
      break;
    case 'refused':
      problems.push(...trouble.problems);
      break;
    case 'lost':
      problems.push(connectionLost(id, places, trouble.cause));
      break;
    default:
      assertNever(trouble);
  }
  return problems;
}

export function instancesOf(facts: UnitFacts): readonly InstanceStatus[] {
  return (facts.registration?.pool.live ?? []).map((instance) => ({
    id: instance.id,
    pid: instance.connection.pid,
    startedAt: instance.startedAt,
    lastCallAt: instance.lastCallAt,
    callsInFlight: instance.callsInFlight,
    use: instance.use,
  }));
}
