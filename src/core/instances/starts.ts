/**
 * Starts the instances of one pool. Invariants: there is one start at a time for each conversation,
 * and one start ahead at most, which makes no caller wait and evicts no instance; a cancelled start
 * leaves nothing.
 */
import { english } from '../base/language.js';
import type { CancelSignal } from '../base/cancellation.js';
import type { Disposable } from '../base/disposables.js';
import { orAborted } from '../base/events.js';
import type { PendingEnds } from '../base/pendingEnds.js';
import type { ServerDefinition } from '../config/model.js';
import type {
  Connection,
  ConnectOutcome,
  StartFailure,
  ToolListing,
} from '../connections/connection.js';
import {
  capabilitiesKey,
  expectedClient,
  type Fields,
  type ServerClient,
} from '../protocol/client.js';
import type { Instance } from './instance.js';
import type { NotStarted, SlotHolder } from './limit.js';
import type { PoolDeps, Services } from './services.js';
import type { StartTurn } from './startTurns.js';

export type Purpose =
  | { readonly kind: 'shared' | 'warm' | 'spare' }
  | {
      readonly kind: 'leased';
      readonly conversation: string;
      readonly client: ServerClient | undefined;
    };

export type StartOutcome = { readonly kind: 'started'; readonly instance: Instance } | NotStarted;

/**
 * A start ahead waits, so that it does not slow down the first call of the latest conversation.
 * Chosen, not measured: most calls have their answer by then.
 */
const aheadDelayMs = 100;

export class Start implements SlotHolder {
  readonly waiters: CancelSignal[] = [];
  outcome: Promise<StartOutcome> = Promise.resolve({ kind: 'cancelled' });
  private readonly controller = new AbortController();
  readonly signal = this.controller.signal;

  /**
   * @param purpose changes when a conversation takes a start ahead @param turn absent if it starts no
   * process
   */
  constructor(
    public purpose: Purpose,
    public since: number,
    readonly declared: Fields,
    readonly turn: StartTurn | undefined,
    readonly client: ServerClient,
  ) {}

  get phase(): SlotHolder['phase'] {
    return this.signal.aborted ? 'ending' : 'starting';
  }

  get isLease(): boolean {
    return this.purpose.kind === 'leased';
  }

  get isSpare(): boolean {
    return this.purpose.kind === 'spare' && !this.signal.aborted;
  }

  cancel(): void {
    this.controller.abort();
  }

  async end(): Promise<void> {
    this.cancel();
    await this.outcome.catch(() => undefined);
  }

  /**
   * Waits for its turn, and connects. @param spoke the protocol version of the server in an earlier
   * window
   */
  async connect(
    server: string,
    definition: () => ServerDefinition,
    { connector, serverLog, firstSeen }: Services,
    spoke?: string,
  ): Promise<ConnectOutcome> {
    const { signal, declared: capabilities, turn, client } = this;
    if (turn?.coming) await orAborted(turn.coming, signal);
    // A start ahead makes no room for itself.
    if (signal.aborted || (this.isSpare && !connector.hasRoom(this))) return { kind: 'cancelled' };
    const { launch, timeouts } = definition();
    const log = serverLog(server);
    const request = {
      server,
      launch,
      log,
      signal,
      capabilities,
      client,
      timeoutMs: timeouts.connect,
      spoke,
    };
    const outcome = await connector.connect(request, this);
    if (outcome.kind !== 'connected') return outcome;
    const listing = await firstSeen.inOrder(
      outcome.listing,
      outcome.connection,
      definition(),
      capabilities,
    );
    return { ...outcome, listing };
  }
}

export class Starts {
  private readonly underWay = new Map<string, Start>();
  private delay: Disposable | undefined;

  /** @param phase `draining`: it starts nothing new. `closed`: a new connection is closed. */
  constructor(
    private readonly deps: PoolDeps,
    private readonly ends: PendingEnds,
    private readonly phase: () => 'open' | 'draining' | 'closed',
    private readonly connected: (
      connection: Connection,
      start: Start,
      listing: ToolListing,
    ) => Instance,
    private readonly hasAnother: () => boolean,
  ) {}

  get all(): readonly Start[] {
    return [...this.underWay.values()];
  }

  /**
   * The time in epoch milliseconds since when the longest start runs. Starts ahead do not count.
   */
  get since(): number | undefined {
    const [first] = this.all
      .filter(({ purpose }) => purpose.kind !== 'spare')
      .sort((a, b) => a.since - b.since);
    return first?.since;
  }

  get warm(): Start | undefined {
    return this.underWay.get('warm');
  }

  get ahead(): Start | undefined {
    const ahead = this.underWay.get('spare');
    return ahead?.isSpare ? ahead : undefined;
  }

  of(conversation: string): Start | undefined {
    return this.underWay.get(
      keyOf({
        kind: 'leased',
        conversation,
        client: undefined,
      }),
    );
  }

  start(
    purpose: Purpose,
    declared: Fields,
    client?: ServerClient,
    waiter?: CancelSignal,
  ): Promise<StartOutcome> {
    const joined = this.underWay.get(keyOf(purpose));
    const usable = joined?.signal.aborted ? undefined : joined;
    if (!usable && this.phase() !== 'open') return Promise.resolve({ kind: 'cancelled' });
    const start = usable ?? this.taken(purpose) ?? this.begin(purpose, declared, client);
    if (waiter) start.waiters.push(waiter);
    return start.outcome;
  }

  startAhead(declared: Fields, isWanted: () => boolean): void {
    if (this.delay || !isWanted()) return;
    this.delay = this.deps.services.clock.after(aheadDelayMs, () => {
      this.delay = undefined;
      if (isWanted()) this.ends.add(this.begin({ kind: 'spare' }, declared).outcome);
    });
  }

  async endAhead(): Promise<void> {
    this.delay?.dispose();
    this.delay = undefined;
    const ahead = this.underWay.get('spare');
    this.underWay.delete('spare');
    await ahead?.end();
  }

  /**
   * Gives the start ahead to a conversation, if its client can do what was declared and the limit
   * has room. It goes on under the key of the conversation, counts from now, and has a waiting
   * caller.
   */
  private taken(purpose: Purpose): Start | undefined {
    const { ahead } = this;
    if (!ahead || purpose.kind !== 'leased') return undefined;
    const { connector, clock } = this.deps.services;
    const fits = knows(ahead.declared, purpose.client) && connector.hasRoom({ isLease: true });
    if (!fits) return undefined;
    this.underWay.delete('spare');
    ahead.purpose = purpose;
    ahead.since = clock.now();
    ahead.turn?.hurry();
    this.register(ahead);
    return ahead;
  }

  private begin(purpose: Purpose, declared: Fields, client?: ServerClient): Start {
    const { clock, turns, expectedClient: expected } = this.deps.services;
    const turn = turns.takeFor(this.deps.definition().launch, purpose.kind !== 'spare');
    const start = new Start(
      purpose,
      clock.now(),
      declared,
      turn,
      client ?? expectedClient(expected()),
    );
    this.register(start);
    start.outcome = this.run(start).finally(() => {
      turn?.end();
      const key = keyOf(start.purpose);
      if (this.underWay.get(key) === start) this.underWay.delete(key);
      this.deps.onEvent({ kind: 'changed' });
    });
    return start;
  }

  private register(start: Start): void {
    const key = keyOf(start.purpose);
    const before = this.underWay.get(key);
    if (before) this.ends.add(before.outcome);
    this.underWay.set(key, start);
    this.deps.onEvent({ kind: 'changed' });
  }

  private async run(start: Start): Promise<StartOutcome> {
    const { services, server, definition } = this.deps;
    const begun = await start.connect(server, definition, services);
    const outcome =
      begun.kind === 'failed' && this.hasAnother()
        ? { ...begun, failure: besideAnother(begun.failure, onlyOne) }
        : begun;
    if (outcome.kind === 'failed') {
      if (start.purpose.kind === 'spare')
        services.serverLog(server).write('info', `No spare instance: ${outcome.failure.message}`);
      else if (this.phase() === 'open')
        this.deps.onEvent({ kind: 'startFailed', failure: outcome.failure });
    }
    if (outcome.kind !== 'connected') return outcome;
    if (this.phase() === 'closed' || start.signal.aborted) {
      await outcome.connection.close();
      return { kind: 'cancelled' };
    }
    return {
      kind: 'started',
      instance: this.connected(outcome.connection, start, outcome.listing),
    };
  }
}

const onlyOne =
  'If one instance can serve all conversations, write `stateless: true` (or `truely-stateless: true`, which means the same) in the entry of this server. Otherwise give each instance another port or folder.';

/**
 * Only one instance of the server can live if it needs what another one has (X3d). @param fix works
 * while that instance runs
 */
export function besideAnother(failure: StartFailure, fix: string): StartFailure {
  if (!failure.isTaken) return failure;
  const message = english`${failure.message} Another instance of this server runs, so it most likely has it.`;
  return { ...failure, message, fix };
}

/** Ids of conversations have a prefix here, so that they differ from the other purposes. */
function keyOf(purpose: Purpose): string {
  return purpose.kind === 'leased' ? `leased ${purpose.conversation}` : purpose.kind;
}

/** A server must learn exactly the capabilities of its client (G4). */
export function knows(declared: Fields, client: ServerClient | undefined): boolean {
  return !client || capabilitiesKey(client.capabilities) === capabilitiesKey(declared);
}
