/** The one snapshot for every view, immutable. A view never asks a connection. */
import { english } from '../base/language.js';
import { reviewedInstructions, type ChangedOffer } from '../approval/offerPrints.js';
import { isForAppAlone } from '../apps/toolMeta.js';
import { isLoopback } from '../base/loopback.js';
import type { Place, Problem } from '../base/problem.js';
import { programHashOf } from '../config/hash.js';
import { usesSecrets } from '../config/launchValues.js';
import {
  isEnabled,
  type ConfiguredServer,
  type Launch,
  type ServerDefinition,
} from '../config/model.js';
import type { SignInStatus } from '../connections/http/oauth/contract.js';
import { lockedServer } from '../lock/lockedServer.js';
import type { ToLock } from '../lock/lockPlan.js';
import type { RunningPackage } from '../packages/package.js';
import { capabilitiesKey } from '../protocol/client.js';
import { type ExcludedTool, noResources, type Toolset } from '../tools/catalogue.js';
import { namesIn } from '../tools/patterns.js';
import type { At } from '../tools/problems.js';
import { savedTokens } from '../tools/tokens.js';
import { problemOf } from '../base/problemOf.js';
import type { Failure } from './failure.js';
import { byKey, reviewedIn } from './offers.js';
import { signInProblems } from './problems.js';
import type { ServerUnit } from './serverUnit.js';

export type ServerState =
  | { readonly kind: 'disabled' }
  /** The entry has an error, and nothing of it runs. Its problems say why. */
  | { readonly kind: 'invalid' }
  | { readonly kind: 'pending' }
  /** Nothing of it runs, because a person still types its launch (R1a). */
  | { readonly kind: 'waiting' }
  /** It waits for a sign-in (X7); `why` is a sentence. */
  | {
      readonly kind: 'signInNeeded';
      readonly since: number;
      readonly why: string;
    }
  | { readonly kind: 'starting'; readonly since: number }
  | { readonly kind: 'running'; readonly since: number }
  /** It has not started in this window. Its tools are from an earlier one, and a call starts it. */
  | { readonly kind: 'remembered'; readonly since: number }
  /** No instance is live. The tools stay published, and the next call starts one (L4). */
  | { readonly kind: 'idle'; readonly since: number }
  | {
      readonly kind: 'reconnecting';
      readonly attempt: number;
      readonly at: number;
      readonly cause: string;
    }
  | {
      readonly kind: 'failed';
      readonly since: number;
      readonly reason: string;
      readonly fix: string;
    }
  /** A person stopped it. It stays so until a person starts it or its entry changes. */
  | { readonly kind: 'stopped'; readonly since: number };

export type InstanceStatus = ReturnType<typeof instancesOf>[number];

export type ServerStatus = Readonly<ReturnType<typeof statusOf>>;

export interface StatusSnapshot {
  readonly version: number;
  /** The source files with a refused reload. Their previous text still counts. */
  readonly refused: readonly { readonly file: string; readonly since: number }[];
  readonly servers: readonly ServerStatus[];
  readonly problems: readonly Problem[];
  readonly builtIn?: Toolset | undefined;
}

type UnitFacts = ServerUnit['facts'];

function stateOf(facts: UnitFacts): ServerState {
  const { wanted, serving } = facts;
  if (facts.stoppedSince !== undefined) return { kind: 'stopped', since: facts.stoppedSince };
  if (facts.startingSince !== undefined) return { kind: 'starting', since: facts.startingSince };
  if (wanted && !isEnabled(wanted)) return { kind: 'disabled' };
  const [oldest] = (serving?.pool.live ?? [])
    .map(({ startedAt }) => startedAt)
    .sort((a, b) => a - b);
  if (oldest !== undefined) return { kind: 'running', since: oldest };
  const starting = serving?.pool.starts.since;
  const pending = serving?.reconnection.pending;
  // Its attempts are part of a reconnection.
  if (starting !== undefined && !pending) return { kind: 'starting', since: starting };
  if (facts.waits) return { kind: 'waiting' };
  if (pending)
    return {
      kind: 'reconnecting',
      ...pending,
      cause: serving.failure?.reason ?? '',
    };
  const down = downBy(facts);
  if (down)
    return {
      kind: 'failed',
      since: down.since,
      reason: down.reason,
      fix: down.fix,
    };
  if (serving) return { kind: 'idle', since: serving.idleSince };
  if (facts.standIn) return { kind: 'remembered', since: facts.standIn.rememberedAt };
  if (facts.approval.kind === 'pending') return { kind: 'pending' };
  return { kind: 'invalid' };
}

function downBy({ wanted, serving, failure }: UnitFacts): Failure | undefined {
  if (wanted?.kind !== 'valid') return undefined;
  return serving?.failure?.takesDown ? serving.failure : failure;
}

function previousOf(
  facts: UnitFacts,
): { readonly since: number; readonly reason: string } | undefined {
  if (facts.divergedAt === undefined || facts.waits) return undefined;
  const since = facts.divergedAt;
  if (facts.wanted?.kind === 'invalid')
    return { since, reason: 'Its new definition has an error.' };
  if (facts.approval.kind === 'pending')
    return { since, reason: 'Its new definition waits for your approval.' };
  if (facts.startingSince !== undefined)
    return { since, reason: 'Its new definition is starting.' };
  const { failure } = facts;
  if (!failure) return { since, reason: 'Its new definition was not applied.' };
  return {
    since,
    reason: failure.start ? english`Its new definition ${failure.reason}` : failure.reason,
  };
}

export function problemsOf(facts: UnitFacts, signIn: SignInStatus): readonly Problem[] {
  const { id, wanted, serving } = facts;
  // A replaced definition has no place in the file.
  const inFile = facts.divergedAt === undefined ? serving : undefined;
  const problems = [
    ...(inFile?.curated.problems ?? []),
    ...(facts.standIn?.curated.problems ?? []),
  ];
  const places = wanted?.places;
  if (!places) return problems;
  const at = { server: id, places };
  // A start or an edit under way may repair them.
  const ofFile = facts.startingSince === undefined ? facts.failure : undefined;
  const ofServing = facts.waits ? undefined : serving?.failure;
  // The status of the sign-in may be newer than its failure.
  const failures = [ofFile, ofServing].filter((one) => one?.start?.code !== 'sign-in-needed');
  return [
    ...problems,
    ...(facts.approval.kind === 'pending'
      ? [problemOf(serving ? 'approval-pending:changed' : 'approval-pending', at, {})]
      : []),
    ...(inFile?.pages.problems(at) ?? []),
    ...(inFile?.outputs.problems(at) ?? []),
    ...versionsDiffer(at, facts),
    ...(serving?.refreshFailure === undefined
      ? []
      : [problemOf('refresh-failed', at, { detail: serving.refreshFailure })]),
    ...signInProblems(at, signIn),
    ...failures.flatMap((failure) => failure?.problems(at) ?? []),
  ];
}

function instancesOf(facts: UnitFacts) {
  const all = [...(facts.serving ? [facts.serving] : []), ...facts.draining];
  return all.flatMap(({ pool, definition: { launch } }) => {
    const folder = launch.transport === 'stdio' ? launch.cwd : undefined;
    return pool.live.map(
      ({ id, connection, startedAt, lastCallAt, callsInFlight, lastTool, use }) => {
        const status = {
          id,
          pid: connection.pid,
          startedAt,
          lastCallAt,
          callsInFlight,
          use,
        };
        return {
          ...status,
          ...(connection.runs && { runs: connection.runs.version }),
          ...(folder !== undefined && { folder }),
          ...(lastTool !== undefined && { lastTool }),
        };
      },
    );
  });
}

/** Undefined until the definition of the file has listed everything. */
function toLock(
  { serving, divergedAt, waits }: UnitFacts,
  running: RunningPackage | undefined,
): ToLock | undefined {
  if (!serving || divergedAt !== undefined || waits) return undefined;
  const { listing, declared } = serving.offeredTo();
  const { failure, incomplete, prompts } = listing;
  if (failure !== undefined || incomplete !== undefined || prompts?.failure !== undefined)
    return undefined;
  const { instructions: told = '' } = serving;
  const said = told === '' ? [] : [reviewedInstructions(told, told)];
  const offers = byKey([...reviewedIn(listing), ...said]);
  return {
    server: lockedServer(offers, running),
    isPlain: declared.includes(capabilitiesKey({})),
    offers,
  };
}

function programFacts(facts: UnitFacts, definition: ServerDefinition | undefined) {
  const published = facts.serving ?? facts.standIn;
  const running = definition && runningPackage(definition, facts);
  return {
    serverInfo: published?.spoken.serverInfo,
    /** The package that runs, if its launch names one. */
    ...(running && { package: running }),
    toLock: () => toLock(facts, running),
  };
}

interface StatusParts {
  readonly server: ConfiguredServer;
  readonly facts: UnitFacts;
  readonly toolset: Toolset | undefined;
  readonly changedOffers: readonly ChangedOffer[] | undefined;
  /** The places of the same id in lower sources, which have no effect (C5). */
  readonly shadows: readonly Place[] | undefined;
  readonly signIn: SignInStatus;
}

function launchFacts(definition: ServerDefinition | undefined) {
  return {
    transport: definition?.launch.transport,
    isOfThisMachine: definition !== undefined && isOfThisMachine(definition.launch),
    trulyStateless: definition?.trulyStateless,
    hasSecrets: definition !== undefined && usesSecrets(definition.launch),
    /** The calls of its tools are counted under it too (H1d). */
    countedAs: definition ? programHashOf(definition.launch) : '',
  };
}

export function statusOf(parts: StatusParts) {
  const { server, facts, toolset, changedOffers = [], shadows = [], signIn } = parts;
  const definition = server.kind === 'valid' ? server.definition : facts.serving?.definition;
  const published = facts.serving ?? facts.standIn;
  const listed =
    published?.listing.tools.flatMap((tool) => (isForAppAlone(tool) ? [] : [tool.name])) ?? [];
  const state = stateOf(facts);
  // The other states say more than the lack of a sign-in.
  const isForSignIn =
    signIn.kind === 'needed' &&
    !['disabled', 'invalid', 'pending', 'waiting', 'starting'].includes(state.kind);
  const { id, source, origin } = server;
  const { tools = [], excluded = [], prompts = [], resources = noResources } = toolset ?? {};
  const offers = {
    tools,
    excluded,
    prompts,
    resources,
    changedOffers,
  };
  return {
    ...offers,
    isPublished: toolset !== undefined,
    id,
    source,
    origin,
    shadows,
    place: server.places.key,
    ...localFacts(server, listed),
    ...launchFacts(definition),
    state: isForSignIn
      ? {
          kind: 'signInNeeded' as const,
          since: signIn.since,
          why: signIn.why,
        }
      : state,
    approval: facts.approval,
    previous: previousOf(facts),
    /** True if its definition waits, because a person still types its launch (R1a). */
    waits: facts.waits,
    ...(signIn.kind !== 'none' && { signIn }),
    /** The time in epoch milliseconds of its list, if the list is from an earlier window (P8). */
    ...(facts.standIn && { rememberedAt: facts.standIn.rememberedAt }),
    ...programFacts(facts, definition),
    /**
     * Returns the place in the file of the reason. Undefined if no key of this server is the
     * reason.
     */
    placeOf: (tool: ExcludedTool) =>
      server.kind === 'valid' ? exclusionPlace(tool, server.definition) : undefined,
    /** The original names before the filters, in the server's order. */
    listed,
    offered: listed.length,
    savedTokens: savedTokens(published?.listing.tools ?? [], tools),
    instances: instancesOf(facts),
  };
}

function localFacts(server: ConfiguredServer, listed: readonly string[]) {
  return {
    /** The paths of the values that the layer of the person has (C7). */
    local: server.local?.keys ?? [],
    localPlace: server.local?.place,
    /** Returns the original names that the lists of the layer publish or leave out (C7). */
    siftedForMe: () => siftedByLayer(server, listed),
  };
}

function siftedByLayer(server: ConfiguredServer, listed: readonly string[]): ReadonlySet<string> {
  const below = server.local?.listsBelow;
  if (!below || server.kind !== 'valid') return new Set();
  const without = namesIn(below, listed);
  const now = namesIn(server.definition.tools, listed);
  return new Set(without && now && listed.filter((name) => without.has(name) !== now.has(name)));
}

/** The version of the latest instance counts, because the next one most likely runs it too. */
function runningPackage(
  { package: named }: ServerDefinition,
  { serving, standIn }: UnitFacts,
): RunningPackage | undefined {
  if (!named) return undefined;
  const { launcher, name, requested, pinned } = named;
  const isSame = serving?.definition.package?.name === name;
  const latest = serving?.pool.live.toSorted((a, b) => b.startedAt - a.startedAt)[0];
  const runs = isSame ? latest?.connection.runs : undefined;
  const reported = (serving ?? standIn)?.spoken.serverInfo?.version;
  return {
    launcher,
    name,
    ...(requested !== undefined && { requested }),
    pinned,
    ...(runs && { runs: runs.version }),
    ...(runs?.integrity !== undefined && { integrity: runs.integrity }),
    ...(reported !== undefined && { reported }),
  };
}

function versionsDiffer(at: At, { serving }: UnitFacts): Problem[] {
  const live = serving?.pool.live ?? [];
  const versions = [...new Set(live.flatMap(({ connection: { runs } }) => runs?.version ?? []))];
  const name = serving?.definition.package?.name ?? '';
  return versions.length < 2
    ? []
    : [problemOf('versions-differ', at, { name, versions: versions.sort().join(', ') })];
}

function exclusionPlace(
  { original, reason }: ExcludedTool,
  definition: ServerDefinition,
): Place | undefined {
  const { tools, places } = definition;
  if (reason.kind === 'blacklist')
    return places.value(['tools', 'blacklist', tools.blacklist.indexOf(reason.pattern)]);
  if (reason.kind === 'whitelist') return places.keyAt(['tools', 'whitelist']);
  if (reason.kind === 'publishedNameInvalid') return places.keyAt(['transform']);
  if (reason.kind !== 'override') return undefined;
  return places.keyAt(['tools', 'override', original, 'arguments', reason.argument]);
}

function isOfThisMachine(launch: Launch): boolean {
  if (launch.transport === 'stdio') return true;
  const url = launch.url.value;
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}
