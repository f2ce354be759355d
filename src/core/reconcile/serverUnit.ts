/**
 * One server of the config file. It carries out one step at a time, and keeps the last-known-good
 * definition if a step fails (R2, R3). Invariants: the serving definition is replaced in one
 * synchronous step; an overtaken start ends and changes nothing; a launch without approval never
 * starts (S1); a disposed unit leaves nothing.
 */
import { english } from '../base/language.js';
import type { CancelSignal } from '../base/cancellation.js';
import type { ApprovalStatus } from '../approval/approvals.js';
import { orAborted } from '../base/events.js';
import { PendingEnds } from '../base/pendingEnds.js';
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import type { ConnectOutcome } from '../connections/connection.js';
import type { PoolFailure } from '../instances/pool.js';
import { ServerConversations } from '../instances/serverConversations.js';
import { besideAnother, Start } from '../instances/starts.js';
import { expectedClient, type Fields } from '../protocol/client.js';
import { failureOf, type Failure, type FailureCause } from './failure.js';
import { Offer } from './offers.js';
import {
  approvalOf,
  diverges,
  editOf,
  enabledDefinition,
  permitsOf,
  planStep,
  startableDefinition,
  type Asked,
  type Step,
} from './plan.js';
import {
  isSameOffer,
  type OfferMemory,
  type RememberedOffer,
  type StandIn,
  standInOf,
} from './remembered.js';
import { Serving, type ServingDeps } from './serving.js';

type Connected = Extract<ConnectOutcome, { kind: 'connected' }>;

/**
 * The start under way of one definition. After an abort, its outcome counts for nothing and its
 * connection is closed.
 */
interface Attempt {
  readonly kind: 'starting';
  definition: ServerDefinition;
  readonly start: Start;
  /**
   * Resolves after the outcome counted, or after everything started is gone. Never rejects because
   * of a server.
   */
  done: Promise<void>;
}

/** A person stopped it. */
interface Stopped {
  readonly kind: 'stopped';
  readonly definition: ServerDefinition;
  readonly since: number;
}

/** With a caller, the start comes before those without one. */
type Demand = 'by a caller' | 'by the plan';

export interface UnitDeps extends Omit<ServingDeps, 'server' | 'conversations'> {
  readonly memory: OfferMemory | undefined;
  /** Decides whether a definition may run (S1). `reconsider` has to be called when this changes. */
  readonly judge: Asked['judge'];
  readonly startsOnCall: (definition: ServerDefinition) => boolean;
  readonly drainLimitMs: number;
}

export type Releaser = 'a person' | 'this conversation';

const revoked = 'its approval was revoked';

const stopFirst =
  'Stop this server, then start it: only one instance can have it, and the one of the previous definition runs until the new one has started.';

export class ServerUnit {
  /** The entry of the file; undefined if it has none. */
  private wanted: ConfiguredServer | undefined;
  /** The entry of the last edit in the record, which has no half-typed ones. */
  private recorded: ConfiguredServer | undefined;
  /** The tools of a definition that has listed them, or of an earlier window until then (P8). */
  published: Serving | StandIn | undefined;
  /** A start and a stop exclude each other. Either goes with anything published. */
  private activity: Attempt | Stopped | undefined;
  /**
   * Why the definition of the file does not serve. It stays during the next start. The serving
   * definition may have its own fault.
   */
  private failure: Failure | undefined;
  /** Since when something else than the definition of the file serves. */
  private divergedAt: number | undefined;
  /** True if the last plan waited for an approval, so that only a new judgement changes it. */
  private heldBack = false;
  /** True while a person types its launch (R1a). */
  private isTyped = false;
  /** True if the definition of the file waits for the end of the typing. */
  private waits = false;
  /** Judged with each change of this unit, because each snapshot of all units reads it. */
  private approval: ApprovalStatus = { kind: 'notAsked' };
  /** The offer that the memory has for the next window. */
  private remembered: RememberedOffer | undefined;
  private readonly ends: PendingEnds;
  private readonly draining = new Set<Serving>();
  private readonly conversations: ServerConversations;

  constructor(
    private readonly id: string,
    private readonly deps: UnitDeps,
  ) {
    const { services } = deps;
    this.ends = new PendingEnds((why) => services.log.write('error', `${id}: ${why}`));
    this.conversations = new ServerConversations(services.conversations?.of(id));
  }

  get serving(): Serving | undefined {
    return this.published instanceof Serving ? this.published : undefined;
  }

  private get standIn(): StandIn | undefined {
    return this.published instanceof Serving ? undefined : this.published;
  }

  private get attempt(): Attempt | undefined {
    return this.activity?.kind === 'starting' ? this.activity : undefined;
  }

  private get stopped(): Stopped | undefined {
    return this.activity?.kind === 'stopped' ? this.activity : undefined;
  }

  /** A request to a stand-in waits here for the start, and finds the real tools. */
  async ready(
    signal: CancelSignal,
  ): Promise<Serving | PoolFailure | { readonly kind: 'cancelled' }> {
    let asked: StandIn | undefined;
    while (this.standIn && !signal.aborted) {
      if (!this.attempt) {
        // Its start came to nothing, so another one would too.
        if (asked === this.standIn) break;
        asked = this.standIn;
        this.launch(asked.definition, 'by a caller');
        this.changed();
      }
      this.attempt?.start.turn?.hurry();
      if (this.attempt) await orAborted(this.attempt.done, signal);
    }
    if (this.serving) return this.serving;
    if (signal.aborted) return { kind: 'cancelled' };
    const failure = this.failure?.start;
    if (failure) return { kind: 'startFailed', failure };
    return { kind: 'notSent', cause: 'the server was stopped or changed' };
  }

  async settled(): Promise<void> {
    while (this.attempt) await this.attempt.done;
    await this.serving?.settled();
  }

  apply(wanted: ConfiguredServer | undefined, isTyped = this.isTyped): void {
    this.wanted = wanted;
    this.isTyped = isTyped;
    const { serving, attempt, stopped } = this;
    const running = {
      serving: serving?.definition,
      starting: attempt?.definition,
      stopped: stopped?.definition,
    };
    const step = planStep(wanted, running, permitsOf(this.asked));
    this.waits = isTyped && (step.kind === 'start' || step.kind === 'hold');
    this.heldBack = !this.waits && (step.kind === 'hold' || step.kind === 'revoke');
    if (this.heldBack && wanted?.kind === 'valid') this.deps.memory?.forget(wanted.definition);
    if (this.waits) this.giveUpStart();
    else {
      this.recordEdit(wanted);
      this.carryOut(step);
    }
    this.changed();
  }

  private recordEdit(wanted: ConfiguredServer | undefined): void {
    const reason = this.recorded && editOf(this.recorded, wanted);
    this.recorded = wanted;
    if (reason === undefined) return;
    this.deps.services.recorder.event({
      event: 'edited',
      toolset: this.id,
      reason,
    });
  }

  private carryOut(step: Step): void {
    if (this.stopped && step.kind !== 'none' && step.kind !== 'keepPrevious')
      this.activity = undefined;
    switch (step.kind) {
      case 'none':
        return;
      case 'start':
        return this.begin(step.definition, 'by the plan');
      case 'redirect':
        if (this.attempt) this.attempt.definition = step.definition;
        this.showStandIn(step.definition);
        if (!this.standIn) this.attempt?.start.turn?.hurry();
        return;
      case 'revoke':
        return this.endNow(revoked);
      case 'recurate':
        this.giveUpStart();
        return this.recurate(step.definition);
      case 'withdraw':
        this.giveUpStart();
        return this.replace(undefined, 'it was removed or disabled');
      case 'hold':
      case 'keepPrevious':
        this.giveUpStart();
        return this.hideStandIn();
    }
  }

  reconsider(): void {
    const { wanted, serving } = permitsOf(this.asked);
    const { judge } = this.deps;
    const isRevoked = ({ definition }: Serving): boolean => judge(definition).kind === 'pending';
    this.endDraining(revoked, [...this.draining].filter(isRevoked));
    if (this.heldBack || !wanted || !serving) this.apply(this.wanted);
    else this.changed();
  }

  async start(): Promise<void> {
    if (this.stopped) this.activity = undefined;
    const { serving } = this;
    const definition = startableDefinition(this.asked);
    if (!definition) this.apply(this.wanted);
    else if (serving?.definition.launchHash !== definition.launchHash) {
      if (this.attempt) this.attempt.start.turn?.hurry();
      else this.begin(definition, 'by a caller');
    } else if (serving.pool.live.length === 0) {
      await serving.startAgain();
    }
    this.changed();
    await this.settled();
  }

  async stop(): Promise<void> {
    const definition = enabledDefinition(this.wanted) ?? this.serving?.definition;
    if (!definition) return;
    this.overtake();
    this.activity = {
      kind: 'stopped',
      definition,
      since: this.deps.services.clock.now(),
    };
    this.endNow('a person stopped it');
    this.changed();
    await this.ends.settled();
  }

  /**
   * The tools stay published. Leases end only for a person. For an agent, one starts if no other is
   * live (L5).
   */
  async restart(by: 'a person' | 'an agent', why = english`${by} restarted it`): Promise<void> {
    const serving = this.serving;
    const definition = startableDefinition(this.asked);
    if (!definition || serving?.definition.launchHash !== definition.launchHash) {
      if (definition) this.overtake();
      return this.start();
    }
    const isWhole = by === 'a person' || definition.trulyStateless;
    await (isWhole ? serving.pool.recycle(why) : serving.pool.endUnheld(why));
    // While its processes ended, a person may have stopped it, or a call may have started another
    // instance.
    if (this.serving === serving && !serving.pool.open) await serving.startAgain();
    await this.settled();
  }

  release(conversation: string, by: Releaser): Promise<boolean> {
    return (
      this.serving?.pool.release(conversation, english`${by} ended it`) ?? Promise.resolve(false)
    );
  }

  async dispose(): Promise<void> {
    this.wanted = undefined;
    this.overtake();
    const reason = 'MCP Toolsets was shut down';
    if (this.serving) this.ends.add(this.serving.close(reason));
    this.published = undefined;
    this.endDraining(reason);
    await this.gone();
  }

  gone(): Promise<void> {
    return this.ends.settled();
  }

  /** Finds the definition that works on a task, which an edit may have replaced since. */
  servingOfTask(task: string, conversation: string): Serving | undefined {
    return [this.serving, ...this.draining].find((serving) =>
      serving?.pool.tasks.of(task, conversation),
    );
  }

  /** Times are in epoch milliseconds. */
  get facts() {
    return {
      id: this.id,
      wanted: this.wanted,
      serving: this.serving,
      standIn: this.standIn,
      draining: [...this.draining] as readonly Serving[],
      startingSince: this.attempt?.start.since,
      stoppedSince: this.stopped?.since,
      waits: this.waits,
      divergedAt: this.divergedAt,
      failure: this.failure,
      approval: this.approval,
    };
  }

  private get asked(): Asked {
    return {
      judge: this.deps.judge,
      wanted: this.wanted,
      serving: this.serving?.definition,
    };
  }

  private begin(definition: ServerDefinition, demand: Demand): void {
    this.overtake();
    this.waits = false;
    this.showStandIn(definition);
    const waitsForCall = this.standIn !== undefined && this.deps.startsOnCall(definition);
    if (demand === 'by a caller' || !waitsForCall) this.launch(definition, demand);
  }

  /** Somebody waits for the first tools too. */
  private launch(definition: ServerDefinition, demand: Demand): void {
    const { clock, turns, expectedClient: expected } = this.deps.services;
    const client = expectedClient(expected());
    const isUrgent = demand === 'by a caller' || !this.standIn;
    const turn = turns.takeFor(definition.launch, isUrgent);
    const start = new Start({ kind: 'warm' }, clock.now(), client.capabilities, turn, client);
    const attempt: Attempt = {
      kind: 'starting',
      definition,
      start,
      done: Promise.resolve(),
    };
    this.activity = attempt;
    attempt.done = this.run(attempt).finally(() => turn?.end());
    this.ends.add(attempt.done);
  }

  private async run(attempt: Attempt): Promise<void> {
    const { start, definition } = attempt;
    const { services, memory, filteredTools, startsOnCall } = this.deps;
    const spoke = memory?.recall(definition)?.protocolVersion;
    const outcome = await start.connect(this.id, () => attempt.definition, services, spoke);
    if (outcome.kind === 'connected')
      await outcome.connection.share?.run(
        Offer.of(outcome.listing).prepare(definition, filteredTools()),
      );
    start.turn?.end();
    if (start.signal.aborted)
      return outcome.kind === 'connected' ? outcome.connection.close() : undefined;
    this.activity = undefined;
    if (outcome.kind === 'connected') this.succeed(attempt.definition, outcome, start.declared);
    if (outcome.kind === 'failed') {
      const runs = this.serving !== undefined && this.serving.pool.live.length > 0;
      const failure = runs ? besideAnother(outcome.failure, stopFirst) : outcome.failure;
      this.setFailure({ kind: 'startFailed', failure });
    }
    // With `start: call`, the next call tries again.
    if (!startsOnCall(attempt.definition) || (this.failure && !this.failure.start))
      this.hideStandIn();
    this.changed();
  }

  private succeed(
    definition: ServerDefinition,
    { connection, listing }: Connected,
    declared: Fields,
  ): void {
    const offer = Offer.of(listing);
    const { services, filteredTools, onChange } = this.deps;
    const curated = offer.curate(definition, filteredTools());
    if (listing.failure && this.published) {
      const failure = {
        code: 'list-failed',
        path: [],
        ...listing.failure,
      } as const;
      this.setFailure({ kind: 'startFailed', failure });
      return this.ends.add(connection.close());
    }
    if (curated.kind === 'refused') {
      this.setFailure(curated);
      return this.ends.add(connection.close());
    }
    this.failure = undefined;
    const onPublish = (): void => void (this.serving === serving && this.publish());
    const serving: Serving = new Serving(
      {
        server: this.id,
        services,
        conversations: this.conversations,
        filteredTools,
        onPublish,
        onChange,
      },
      { definition, connection, declared, offer, curated },
    );
    this.replace(serving, 'its definition was changed');
  }

  private recurate(definition: ServerDefinition): void {
    const { serving } = this;
    if (!serving) return;
    // A failed start counts until a start succeeds, and an edit asks for one if no instance is live
    // (R2).
    if (serving.failure?.takesDown && !serving.pool.open) this.ends.add(serving.startAgain());
    const refused = serving.recurate(definition);
    if (refused) this.setFailure(refused);
  }

  private replace(next: Serving | undefined, reason: string): void {
    const before = this.serving;
    if (!before && !next) return this.hideStandIn();
    this.published = next;
    this.publish();
    if (!before) return;
    this.draining.add(before);
    this.ends.add(
      before.drain(this.deps.drainLimitMs, reason).finally(() => this.draining.delete(before)),
    );
  }

  /** Publishes the list of an earlier window for this launch, unless a definition serves. */
  private showStandIn(definition: ServerDefinition): void {
    if (this.serving) return;
    const { memory, filteredTools } = this.deps;
    const before = this.standIn;
    const isSame = before?.definition.launchHash === definition.launchHash;
    const remembered = isSame ? before.remembered : memory?.recall(definition);
    const next = remembered && standInOf(definition, remembered, filteredTools());
    if (!next) return this.hideStandIn();
    if (!isSame) this.failure = undefined;
    this.published = next;
    this.publish();
  }

  private hideStandIn(): void {
    if (!this.standIn) return;
    this.published = undefined;
    this.publish();
  }

  private publish(): void {
    const { serving, remembered } = this;
    this.updateDivergence();
    const offer = serving?.toRemember;
    if (offer && !offer.listing.failure && !(remembered && isSameOffer(offer, remembered))) {
      this.remembered = offer;
      this.deps.memory?.remember(serving.definition, offer);
    }
    this.deps.onPublish();
  }

  private changed(): void {
    this.updateDivergence();
    this.approval = approvalOf(this.asked, this.stopped !== undefined || this.waits);
    this.deps.onChange();
  }

  private setFailure(cause: FailureCause): void {
    this.failure = failureOf(cause, this.id, this.deps.services);
  }

  private updateDivergence(): void {
    const diverged = diverges(this.wanted, this.serving?.definition);
    this.divergedAt = diverged ? (this.divergedAt ?? this.deps.services.clock.now()) : undefined;
  }

  private endNow(reason: string): void {
    this.giveUpStart();
    this.replace(undefined, reason);
    this.endDraining(reason);
  }

  private endDraining(reason: string, servings: Iterable<Serving> = this.draining): void {
    for (const serving of servings) this.ends.add(serving.close(reason));
  }

  private giveUpStart(): void {
    this.overtake();
    this.failure = undefined;
  }

  private overtake(): void {
    if (!this.attempt) return;
    this.attempt.start.cancel();
    this.activity = undefined;
  }
}
