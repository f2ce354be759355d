/**
 * One server of the config: brings what runs to what the file says, one step at a time, and keeps the last-known-good
 * when that fails (R2, R3). Invariants: what serves is replaced in one synchronous step; an overtaken
 * start is ended and changes nothing; what waits for approval never starts (S1); a disposed unit leaves nothing.
 */
import { assertNever } from '../base/assertNever.js';
import { PendingEnds } from '../base/pendingEnds.js';
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import type { ConnectOutcome } from '../connections/connection.js';
import type { Fields } from '../protocol/client.js';
import { curate } from '../tools/curate.js';
import {
  approvalOf,
  diverges,
  enabledDefinition,
  type Permits,
  permitsOf,
  planStep,
  startableDefinition,
} from './plan.js';
import { Serving, type UnitOptions } from './serving.js';
import {
  describeTrouble,
  isFailure,
  redactedCause,
  type Trouble,
  type TroubleCause,
  type UnitFacts,
} from './status.js';

type Connected = Extract<ConnectOutcome, { kind: 'connected' }>;

export class ServerUnit {
  private wanted: ConfiguredServer | undefined;
  private serving_: Serving | undefined;
  private attempt: StartAttempt | undefined;
  private stopped: { readonly definition: ServerDefinition; readonly since: number } | undefined;
  /** Why the definition of the file does not serve. */
  private trouble: Trouble | undefined;
  /** What is wrong with what serves; told beside the other, as neither explains or ends the other. */
  private servingTrouble: Trouble | undefined;
  private divergedAt: number | undefined;
  private heldBack = false;
  private readonly ends: PendingEnds;
  private readonly draining: Draining;

  constructor(private readonly options: UnitOptions) {
    this.ends = new PendingEnds((error) => options.log.write('error', `${options.id}: ${String(error)}`));
    this.draining = new Draining(this.ends);
  }

  get serving(): Serving | undefined {
    return this.serving_;
  }

  /** Resolves when no start and no refresh of this unit is under way. */
  async settled(): Promise<void> {
    while (this.attempt) await this.attempt.done;
    await this.serving_?.settled();
  }

  /** The file says this now. */
  apply(wanted: ConfiguredServer | undefined): void {
    this.wanted = wanted;
    const [serving, starting, stopped] = [this.serving_, this.attempt, this.stopped].map((each) => each?.definition);
    const step = planStep(wanted, { serving, starting, stopped }, this.permits());
    this.heldBack = step.kind === 'hold' || step.kind === 'revoke';
    switch (step.kind) {
      case 'none':
        break;
      case 'withdraw':
        this.overtake();
        this.stopped = undefined;
        this.trouble = undefined;
        this.replace(undefined, 'it was removed or disabled');
        break;
      case 'keepPrevious':
      case 'hold':
        if (step.kind === 'hold') this.stopped = undefined;
        this.overtake();
        this.trouble = undefined;
        break;
      case 'revoke':
        this.endNow('its approval was revoked');
        break;
      case 'recurate':
        this.overtake();
        this.stopped = undefined;
        this.recurate(step.definition);
        break;
      case 'redirect':
        if (this.attempt) this.attempt.definition = step.definition;
        break;
      case 'start':
        this.stopped = undefined;
        this.begin(step.definition);
        break;
      default:
        assertNever(step);
    }
    this.changed();
  }

  /** What may run changed: approved, revoked. */
  reconsider(): void {
    const { wanted, serving } = this.permits();
    if (this.heldBack || !wanted || !serving) this.apply(this.wanted);
    else this.changed();
  }

  /** A person's start: of a stopped, failed or idle server. */
  async start(): Promise<void> {
    this.stopped = undefined;
    const serving = this.serving_;
    const definition = this.startable();
    if (!definition) this.apply(this.wanted);
    else if (serving?.definition.launchHash !== definition.launchHash) {
      if (!this.attempt) this.begin(definition);
    } else if (serving.pool.live.length === 0) {
      await serving.startAgain();
    }
    this.changed();
    await this.settled();
  }

  /** A person's stop: the tools are withdrawn and every instance ends now; calls in flight fail. */
  async stop(): Promise<void> {
    const definition = enabledDefinition(this.wanted) ?? this.serving_?.definition;
    if (!definition) return;
    this.stopped = { definition, since: this.options.clock.now() };
    this.endNow('a person stopped it');
    this.changed();
    await this.ends.settled();
  }

  /** A person's restart: every instance ends, a new one starts and lists; the tools stay published meanwhile. */
  async restart(): Promise<void> {
    const [serving, definition] = [this.serving_, this.startable()];
    if (!definition) return this.start();
    if (serving?.definition.launchHash === definition.launchHash) {
      await serving.pool.recycle('a person restarted it');
      await serving.startAgain();
      await this.settled();
    } else {
      this.overtake();
      await this.start();
    }
  }

  release(dialog: string): Promise<boolean> {
    return this.serving_?.pool.release(dialog) ?? Promise.resolve(false);
  }

  async dispose(): Promise<void> {
    this.wanted = undefined;
    this.overtake();
    const reason = 'the host is shutting down';
    if (this.serving_) this.ends.add(this.serving_.close(reason));
    this.serving_ = undefined;
    this.draining.endNow(reason);
    await this.gone();
  }

  /** Resolves when everything that was withdrawn, replaced or overtaken has ended. */
  gone(): Promise<void> {
    return this.ends.settled();
  }

  /** What the views show of it. */
  get facts(): UnitFacts {
    return {
      id: this.options.id,
      wanted: this.wanted,
      serving: this.serving_,
      draining: this.draining.all,
      startingSince: this.attempt?.since,
      stoppedSince: this.stopped?.since,
      divergedAt: this.divergedAt,
      trouble: this.trouble,
      servingTrouble: this.servingTrouble,
      approval: approvalOf(this.options.judge, this.wanted, this.serving_?.definition, this.stopped !== undefined),
    };
  }

  private startable(): ServerDefinition | undefined {
    return startableDefinition(this.options.judge, this.wanted, this.serving_?.definition);
  }

  private permits(): Permits {
    return permitsOf(this.options.judge, this.wanted, this.serving_?.definition);
  }

  private begin(definition: ServerDefinition): void {
    this.overtake();
    const { id: server, connector, serverLog: log, clock } = this.options;
    const { launch, timeouts } = definition;
    const { capabilities } = this.options.expected();
    this.attempt = new StartAttempt(
      definition,
      clock.now(),
      (signal) => connector.connect({ server, launch, timeoutMs: timeouts.connect, signal, log, capabilities }),
      (attempt, outcome) => {
        this.attempt = undefined;
        if (outcome.kind === 'connected') this.succeed(attempt.definition, outcome, capabilities);
        if (outcome.kind === 'failed') this.fail({ kind: 'startFailed', failure: outcome.failure });
        this.changed();
      },
    );
    this.ends.add(this.attempt.done);
  }

  private succeed(definition: ServerDefinition, { connection, listing }: Connected, announced: Fields): void {
    const curated = curate(definition, listing, this.options.filteredTools());
    if (curated.kind === 'refused') {
      this.fail({ kind: 'refused', problems: curated.problems });
      this.ends.add(connection.close());
      return;
    }
    this.trouble = undefined;
    const serving: Serving = new Serving(
      this.options,
      {
        onCommit: () => this.serving_ === serving && this.commit(),
        onChange: this.options.onChange,
        onTrouble: (cause) => this.noteServing(this.told(cause)),
        onWell: () => this.noteServing(undefined),
      },
      definition,
      connection,
      announced,
      listing,
      curated,
    );
    this.replace(serving, 'its definition was changed');
  }

  private fail(cause: TroubleCause): void {
    this.trouble = this.told(cause);
    this.options.onChange();
  }

  private noteServing(trouble: Trouble | undefined): void {
    this.servingTrouble = trouble;
    this.options.onChange();
  }

  private told(cause: TroubleCause): Trouble {
    const trouble = { ...redactedCause(cause, this.options.redact), since: this.options.clock.now() };
    const { reason, fix } = describeTrouble(trouble);
    this.options.log.write('error', `${this.options.id}: ${reason} ${fix}`);
    return trouble;
  }

  private recurate(definition: ServerDefinition): void {
    const serving = this.serving_;
    if (!serving) return;
    this.trouble = undefined;
    // What failed to start lasts until a start succeeds, and an edit asks again.
    if (this.servingTrouble && isFailure(this.servingTrouble)) this.ends.add(serving.startAgain());
    const refused = serving.recurate(definition);
    if (refused) this.fail({ kind: 'refused', problems: refused.problems });
  }

  /** The one step in which what serves changes; what served before ends with its last call. */
  private replace(next: Serving | undefined, reason: string): void {
    const before = this.serving_;
    if (!before && !next) return;
    this.serving_ = next;
    this.servingTrouble = undefined;
    this.commit();
    if (!before) return;
    this.draining.add(before, this.options.drainLimitMs, reason);
  }

  private commit(): void {
    this.noteDivergence();
    this.options.onCommit();
  }

  private changed(): void {
    this.noteDivergence();
    this.options.onChange();
  }

  private noteDivergence(): void {
    const diverged = diverges(this.wanted, this.serving_?.definition);
    this.divergedAt = diverged ? (this.divergedAt ?? this.options.clock.now()) : undefined;
  }

  /** Tools withdrawn, every instance ended, calls in flight failed. */
  private endNow(reason: string): void {
    this.overtake();
    this.trouble = undefined;
    this.replace(undefined, reason);
    this.draining.endNow(reason);
  }

  private overtake(): void {
    this.attempt?.overtake();
    this.attempt = undefined;
  }
}

/** What no longer serves, replaced or withdrawn, while its last calls still run (R4). */

class Draining {
  private readonly servings = new Set<Serving>();

  constructor(private readonly ends: PendingEnds) {}

  get all(): readonly Serving[] {
    return [...this.servings];
  }

  /** @param limitMs milliseconds that calls in flight have. */
  add(serving: Serving, limitMs: number, reason: string): void {
    this.servings.add(serving);
    this.ends.add(serving.drain(limitMs, reason).finally(() => this.servings.delete(serving)));
  }

  /** Calls in flight fail. */
  endNow(reason: string): void {
    for (const serving of this.servings) this.ends.add(serving.close(reason));
  }
}

/**
 * One start of one definition, which may be overtaken by a later edit. Invariant: what an overtaken start connects is
 * ended, and its outcome is told to nobody.
 */

class StartAttempt {
  private readonly controller = new AbortController();
  private overtaken = false;
  /** Resolves when the outcome was told, or what was started is gone. Never rejects for what a server does. */
  readonly done: Promise<void>;

  /**
   * @param definition may be replaced while the start is under way by one of the same launch.
   * @param since epoch milliseconds.
   */
  constructor(
    public definition: ServerDefinition,
    readonly since: number,
    connect: (signal: AbortSignal) => Promise<ConnectOutcome>,
    tell: (attempt: StartAttempt, outcome: ConnectOutcome) => void,
  ) {
    this.done = (async () => {
      const outcome = await connect(this.controller.signal);
      if (!this.overtaken) tell(this, outcome);
      else if (outcome.kind === 'connected') await outcome.connection.close();
    })();
  }

  overtake(): void {
    this.overtaken = true;
    this.controller.abort();
  }
}
