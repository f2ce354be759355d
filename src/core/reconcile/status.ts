/**
 * The one snapshot for every view (sidebar, status bar, problems, command line), and the pure functions that make it. A
 * snapshot is immutable, and a view never asks a connection.
 */
import type { ApprovalStatus } from '../approval/approvals.js';
import type { ChangedOffer } from '../approval/offerPrints.js';
import { isForAppAlone } from '../apps/toolMeta.js';
import { assertNever } from '../base/assertNever.js';
import { isLoopback } from '../base/loopback.js';
import type { Place, Problem } from '../base/problem.js';
import { usesSecrets } from '../config/read/launchReferences.js';
import {
  isEnabled,
  startOfFile,
  type ConfiguredServer,
  type Launch,
  type ServerDefinition,
  type SourceOrigin,
} from '../config/model.js';
import type { SignInStatus } from '../connections/http/oauth/contract.js';
import {
  type ExcludedTool,
  noResources,
  type PublishedPrompt,
  type PublishedResources,
  type ServedTool,
  type Toolset,
} from '../tools/catalogue.js';
import type { At } from '../tools/problems.js';
import { savedTokens } from '../tools/tokens.js';
import type { InstanceUse } from '../instances/instance.js';
import { describeFailure, takesDown, type Failure } from './failure.js';
import {
  approvalPending,
  connectionLost,
  refreshFailed,
  rightsLacking,
  signInNeeded,
  startFailed,
} from './problems.js';
import type { ServerUnit } from './serverUnit.js';

export type ServerState =
  | { readonly kind: 'disabled' }
  /** The entry has an error, and nothing of it runs. Its problems say why. */
  | { readonly kind: 'invalid' }
  | { readonly kind: 'pending' }
  /** It waits for a sign-in (X7); `why` is a sentence. */
  | { readonly kind: 'signInNeeded'; readonly since: number; readonly why: string }
  | { readonly kind: 'starting'; readonly since: number }
  | { readonly kind: 'running'; readonly since: number }
  /** It has not started in this window. Its tools are from an earlier one, and a call starts it. */
  | { readonly kind: 'remembered'; readonly since: number }
  /** No instance is live. The tools stay published, and the next call starts one (L4). */
  | { readonly kind: 'idle'; readonly since: number }
  | { readonly kind: 'reconnecting'; readonly attempt: number; readonly at: number; readonly cause: string }
  | { readonly kind: 'failed'; readonly since: number; readonly reason: string; readonly fix: string }
  /** A person stopped it. It stays so until a person starts it or its entry changes. */
  | { readonly kind: 'stopped'; readonly since: number };

interface PreviousDefinition {
  readonly since: number;
  readonly reason: string;
}

export interface InstanceStatus {
  readonly id: string;
  readonly pid: number | undefined;
  /** The working directory of its process, an absolute path. Absent for a server over HTTP. */
  readonly folder?: string | undefined;
  readonly startedAt: number;
  readonly lastCallAt: number | undefined;
  readonly callsInFlight: number;
  readonly lastTool?: string | undefined;
  readonly use: InstanceUse;
}

export interface ServerStatus {
  readonly id: string;
  readonly source: string;
  readonly origin: SourceOrigin;
  readonly place: Place;
  /** The places of the same id in lower sources, which have no effect (C5). */
  readonly shadows: readonly Place[];
  readonly transport: 'stdio' | 'streamable_http' | undefined;
  readonly isOfThisMachine: boolean;
  readonly trulyStateless: boolean | undefined;
  readonly hasSecrets: boolean;
  readonly state: ServerState;
  readonly approval: ApprovalStatus;
  readonly previous: PreviousDefinition | undefined;
  readonly signIn?: SignInStatus;
  /** The time in epoch milliseconds of its list, if the list is from an earlier window (P8). */
  readonly rememberedAt?: number;
  readonly serverInfo: { readonly name: string; readonly version: string } | undefined;
  readonly tools: readonly ServedTool[];
  readonly excluded: readonly ExcludedTool[];
  /** Returns the place in the file of the reason. Undefined if no key of this server is the reason. */
  readonly placeOf: (excluded: ExcludedTool) => Place | undefined;
  readonly changedOffers: readonly ChangedOffer[];
  readonly prompts: readonly PublishedPrompt[];
  readonly resources: PublishedResources;
  /** The number of tools before the filters. */
  readonly offered: number;
  readonly savedTokens: number;
  /** The original names, in the server's order. */
  readonly listed: readonly string[];
  readonly instances: readonly InstanceStatus[];
}

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
  const { wanted, serving, failure, servingFailure } = facts;
  if (facts.stoppedSince !== undefined) return { kind: 'stopped', since: facts.stoppedSince };
  if (facts.startingSince !== undefined) return { kind: 'starting', since: facts.startingSince };
  if (wanted && !isEnabled(wanted)) return { kind: 'disabled' };
  const [oldest, ...younger] = serving?.pool.live ?? [];
  if (oldest) {
    const since = younger.reduce((first, { startedAt }) => Math.min(first, startedAt), oldest.startedAt);
    return { kind: 'running', since };
  }
  const starting = serving?.pool.startingSince;
  if (starting !== undefined) return { kind: 'starting', since: starting };
  const pending = serving?.reconnection.pending;
  if (pending)
    return { kind: 'reconnecting', ...pending, cause: servingFailure ? describeFailure(servingFailure).reason : '' };
  const down = servingFailure && takesDown(servingFailure) ? servingFailure : failure;
  if (down && wanted?.kind === 'valid') return { kind: 'failed', since: down.since, ...describeFailure(down) };
  if (serving) return { kind: 'idle', since: serving.idleSince ?? serving.since };
  if (facts.standIn) return { kind: 'remembered', since: facts.standIn.rememberedAt };
  if (facts.approval.kind === 'pending') return { kind: 'pending' };
  return { kind: 'invalid' };
}

function previousOf(facts: UnitFacts): PreviousDefinition | undefined {
  if (facts.divergedAt === undefined) return undefined;
  const since = facts.divergedAt;
  if (facts.wanted?.kind === 'invalid') return { since, reason: 'Its new definition has an error.' };
  if (facts.approval.kind === 'pending') return { since, reason: 'Its new definition waits for your approval.' };
  if (facts.startingSince !== undefined) return { since, reason: 'Its new definition is starting.' };
  const { failure } = facts;
  if (!failure) return { since, reason: 'Its new definition was not applied.' };
  const { reason } = describeFailure(failure);
  return { since, reason: failure.kind === 'startFailed' ? `Its new definition ${reason}` : reason };
}

/** Places of an earlier text are wrong in the present one: only errors stay, at its beginning. */
export function inPresentText(problems: readonly Problem[], refused: StatusSnapshot['refused']): readonly Problem[] {
  const files = new Set(refused.map(({ file }) => file));
  return problems.flatMap((problem) => {
    const { file } = problem.place;
    if (!files.has(file)) return [problem];
    return problem.severity === 'error' ? [{ ...problem, place: { file, range: startOfFile } }] : [];
  });
}

export function problemsOf(facts: UnitFacts, signIn: SignInStatus = notAsked): readonly Problem[] {
  const { id, wanted, serving } = facts;
  // A replaced definition has no place in the file.
  const inFile = facts.divergedAt === undefined ? serving : undefined;
  const problems = [...(inFile?.curated.problems ?? []), ...(facts.standIn?.curated.problems ?? [])];
  const places = wanted?.places;
  if (!places) return problems;
  const at = { server: id, places };
  if (facts.approval.kind === 'pending') problems.push(approvalPending(at, serving !== undefined));
  for (const problem of inFile?.pages.problems(at) ?? []) problems.push(problem);
  if (serving?.refreshFailure !== undefined) problems.push(refreshFailed(at, serving.refreshFailure));
  if (signIn.kind === 'needed') problems.push(signInNeeded(at, signIn.why, signIn.fix));
  if (signIn.kind === 'signedIn' && signIn.lacks !== undefined) problems.push(rightsLacking(at, signIn.lacks));
  for (const failure of [facts.failure, facts.servingFailure]) {
    if (!failure || isForSignIn(failure)) continue;
    for (const problem of problemsOfFailure(at, failure)) problems.push(problem);
  }
  return problems;
}

function problemsOfFailure(at: At, failure: Failure): readonly Problem[] {
  switch (failure.kind) {
    case 'startFailed':
      return [startFailed(at, failure.failure)];
    case 'refused':
      return failure.problems;
    case 'lost':
      return [connectionLost(at, failure.cause)];
    default:
      return assertNever(failure);
  }
}

function instancesOf(facts: UnitFacts): readonly InstanceStatus[] {
  const all = [...(facts.serving ? [facts.serving] : []), ...facts.draining];
  return all.flatMap(({ pool, definition: { launch } }) =>
    pool.live.map((instance) => ({
      id: instance.id,
      pid: instance.connection.pid,
      folder: launch.transport === 'stdio' ? launch.cwd : undefined,
      startedAt: instance.startedAt,
      lastCallAt: instance.lastCallAt,
      callsInFlight: instance.callsInFlight,
      lastTool: instance.lastTool,
      use: instance.use,
    })),
  );
}

const notAsked: SignInStatus = { kind: 'none' };

/** The status of the sign-in already says it, and may be newer. */
function isForSignIn(failure: Failure): boolean {
  return failure.kind === 'startFailed' && failure.failure.code === 'sign-in-needed';
}

/** These states say more than the lack of a sign-in. */
const withoutSignIn: readonly ServerState['kind'][] = ['disabled', 'invalid', 'pending', 'starting'];

function stateWithSignIn(state: ServerState, signIn: SignInStatus): ServerState {
  if (signIn.kind !== 'needed' || withoutSignIn.includes(state.kind)) return state;
  return { kind: 'signInNeeded', since: signIn.since, why: signIn.why };
}

export function statusOf(
  server: ConfiguredServer,
  facts: UnitFacts,
  toolset: Toolset | undefined,
  changedOffers: readonly ChangedOffer[] = [],
  signIn: SignInStatus = notAsked,
): ServerStatus {
  const definition = server.kind === 'valid' ? server.definition : facts.serving?.definition;
  const published = facts.serving ?? facts.standIn;
  const listed = published?.listing.tools.flatMap((tool) => (isForAppAlone(tool) ? [] : [tool.name])) ?? [];
  return {
    id: server.id,
    source: server.source,
    origin: server.origin,
    // Only `host` knows the other entries.
    shadows: [],
    place: server.places.key,
    transport: definition?.launch.transport,
    isOfThisMachine: definition !== undefined && isOfThisMachine(definition.launch),
    trulyStateless: definition?.trulyStateless,
    hasSecrets: definition !== undefined && usesSecrets(definition.launch),
    state: stateWithSignIn(stateOf(facts), signIn),
    approval: facts.approval,
    previous: previousOf(facts),
    ...(signIn.kind !== 'none' && { signIn }),
    ...(facts.standIn && { rememberedAt: facts.standIn.rememberedAt }),
    serverInfo: published?.serverInfo,
    tools: toolset?.tools ?? [],
    excluded: toolset?.excluded ?? [],
    placeOf: (excluded) => (server.kind === 'valid' ? exclusionPlace(excluded, server.definition) : undefined),
    changedOffers,
    prompts: toolset?.prompts ?? [],
    resources: toolset?.resources ?? noResources,
    offered: listed.length,
    savedTokens: savedTokens(published?.listing.tools ?? [], toolset?.tools ?? []),
    listed,
    instances: instancesOf(facts),
  };
}

function exclusionPlace({ original, reason }: ExcludedTool, definition: ServerDefinition): Place | undefined {
  const { tools, places } = definition;
  switch (reason.kind) {
    case 'blacklist':
      return places.value(['tools', 'blacklist', tools.blacklist.indexOf(reason.pattern)]);
    case 'whitelist':
      return places.keyAt(['tools', 'whitelist']);
    case 'publishedNameInvalid':
      return places.keyAt(['transform']);
    case 'override':
      return places.keyAt(['tools', 'override', original, 'arguments', reason.argument]);
    default:
      return undefined;
  }
}

function isOfThisMachine(launch: Launch): boolean {
  if (launch.transport === 'stdio') return true;
  return URL.canParse(launch.url) && isLoopback(new URL(launch.url).hostname);
}
