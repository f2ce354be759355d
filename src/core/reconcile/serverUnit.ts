/**
 * One server of the config: brings what runs to what the file says, one step at a time, and keeps the last-known-good
 * when that fails (spec R2, R3). Invariants: what serves is replaced in one synchronous step; a start that finishes
 * after it was overtaken is ended and changes nothing; a unit that is disposed leaves nothing running.
 */
import { assertNever } from '../base/assertNever.js';
import { PendingEnds } from '../base/pendingEnds.js';
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import type { CallRequest, Connection, ToolListing } from '../connections/connection.js';
import type { PoolCallOutcome } from '../connections/instancePool.js';
import { curate } from '../tools/curate.js';
import { planStep } from './plan.js';
import { Serving } from './serving.js';
import { StartAttempt } from './startAttempt.js';
import { describeTrouble, redactedCause, type Trouble, type TroubleCause, type UnitFacts } from './unitFacts.js';
import type { UnitOptions } from './unitOptions.js';

export class ServerUnit {
  private wanted: ConfiguredServer | undefined;
  private serving_: Serving | undefined;
  private attempt: StartAttempt | undefined;
  private stopped: { readonly definition: ServerDefinition; readonly since: number } | undefined;
  private trouble: Trouble | undefined;
  private divergedAt: number | undefined;
  /** Replaced or withdrawn, their last calls still running. */
  private readonly draining = new Set<Serving>();
  private readonly ends: PendingEnds;

  constructor(private readonly options: UnitOptions) {
    this.ends = new PendingEnds((error) => options.log.write('error', `${options.id}: ${String(error)}`));
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
    const step = planStep(wanted, {
      serving: this.serving_?.definition,
      starting: this.attempt?.definition,
      stopped: this.stopped?.definition,
    });
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
        this.overtake();
        this.trouble = undefined;
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

  /** A person's start: of a stopped, failed or idle server. */
  async start(): Promise<void> {
    this.stopped = undefined;
    const definition = this.enabledDefinition();
    if (!definition) return;
    const serving = this.serving_;
    if (serving?.definition.launchHash !== definition.launchHash) {
      if (!this.attempt) this.begin(definition);
    } else if (serving.pool.live.length === 0) {
      await serving.startAgain();
    }
    this.changed();
    await this.settled();
  }

  /** A person's stop: the tools are withdrawn and every instance ends now; calls in flight fail. */
  async stop(): Promise<void> {
    const definition = this.enabledDefinition() ?? this.serving_?.definition;
    if (!definition) return;
    this.overtake();
    this.trouble = undefined;
    this.stopped = { definition, since: this.options.clock.now() };
    this.replace(undefined, 'a person stopped it');
    for (const serving of this.draining) this.ends.add(serving.close('a person stopped it'));
    this.changed();
    await this.ends.settled();
  }

  /** A person's restart: every instance ends, a new one starts and lists; the tools stay published meanwhile. */
  async restart(): Promise<void> {
    const serving = this.serving_;
    const definition = this.enabledDefinition();
    if (!definition) return;
    if (serving?.definition.launchHash === definition.launchHash) {
      await serving.pool.recycle('a person restarted it');
      await serving.startAgain();
      await this.settled();
    } else {
      this.overtake();
      await this.start();
    }
  }

  call(dialog: string, request: Omit<CallRequest, 'timeouts'>): Promise<PoolCallOutcome> {
    const serving = this.serving_;
    if (!serving) return Promise.resolve({ kind: 'lost', cause: 'the server was stopped' });
    return serving.pool.call(dialog, { ...request, timeouts: serving.definition.timeouts });
  }

  release(dialog: string): Promise<boolean> {
    return this.serving_?.pool.release(dialog) ?? Promise.resolve(false);
  }

  async dispose(): Promise<void> {
    this.wanted = undefined;
    this.overtake();
    const serving = this.serving_;
    this.serving_ = undefined;
    if (serving) this.draining.add(serving);
    for (const each of this.draining) this.ends.add(each.close('the host is shutting down'));
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
      draining: [...this.draining],
      startingSince: this.attempt?.since,
      stoppedSince: this.stopped?.since,
      divergedAt: this.divergedAt,
      trouble: this.trouble,
    };
  }

  private enabledDefinition(): ServerDefinition | undefined {
    return this.wanted?.kind === 'valid' && this.wanted.definition.enabled ? this.wanted.definition : undefined;
  }

  private begin(definition: ServerDefinition): void {
    this.overtake();
    const { id: server, connector, serverLog: log, clock } = this.options;
    const { launch, timeouts } = definition;
    this.attempt = new StartAttempt(
      definition,
      clock.now(),
      (signal) => connector.connect({ server, launch, timeoutMs: timeouts.connect, signal, log }),
      (attempt, outcome) => {
        this.attempt = undefined;
        if (outcome.kind === 'connected') this.succeed(attempt.definition, outcome.connection, outcome.listing);
        if (outcome.kind === 'failed') {
          this.fail(attempt.definition, { kind: 'startFailed', failure: outcome.failure });
        }
        this.changed();
      },
    );
    this.ends.add(this.attempt.done);
  }

  private succeed(definition: ServerDefinition, connection: Connection, listing: ToolListing): void {
    const curated = curate(definition, listing, this.options.filteredTools());
    if (curated.kind === 'refused') {
      this.fail(definition, { kind: 'refused', problems: curated.problems });
      this.ends.add(connection.close());
      return;
    }
    this.trouble = undefined;
    const serving: Serving = new Serving(
      this.options,
      {
        onCommit: () => this.serving_ === serving && this.commit(),
        onChange: this.options.onChange,
        onTrouble: (cause) => this.fail(serving.definition, cause),
        onWell: () => {
          this.trouble = undefined;
          this.options.onChange();
        },
      },
      definition,
      connection,
      listing,
      curated,
    );
    this.replace(serving, 'its definition was changed');
  }

  private fail({ launchHash }: ServerDefinition, cause: TroubleCause): void {
    this.trouble = { ...redactedCause(cause, this.options.redact), launchHash, since: this.options.clock.now() };
    const { reason, fix } = describeTrouble(this.trouble);
    this.options.log.write('error', `${this.options.id}: ${reason} ${fix}`);
    this.options.onChange();
  }

  private recurate(definition: ServerDefinition): void {
    const serving = this.serving_;
    if (!serving) return;
    const { trouble } = this;
    // Trouble with another definition is over; trouble with this one lasts until a start succeeds, and an edit asks again.
    if (trouble?.kind === 'refused' || trouble?.launchHash !== definition.launchHash) this.trouble = undefined;
    else if (trouble.kind === 'startFailed' || trouble.final) this.ends.add(serving.startAgain());
    const refused = serving.recurate(definition);
    if (refused) this.fail(definition, { kind: 'refused', problems: refused.problems });
  }

  /** The one step in which what serves changes; what served before ends with its last call. */
  private replace(next: Serving | undefined, reason: string): void {
    const before = this.serving_;
    if (!before && !next) return;
    this.serving_ = next;
    this.commit();
    if (!before) return;
    this.draining.add(before);
    this.ends.add(before.drain(this.options.drainLimitMs, reason).finally(() => this.draining.delete(before)));
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
    const serving = this.serving_?.definition;
    const wanted = this.wanted?.kind === 'valid' ? this.wanted.definition : undefined;
    const same = wanted && serving?.launchHash === wanted.launchHash && serving.viewHash === wanted.viewHash;
    if (!serving || same || !this.wanted) this.divergedAt = undefined;
    else this.divergedAt ??= this.options.clock.now();
  }

  private overtake(): void {
    this.attempt?.overtake();
    this.attempt = undefined;
  }
}
