/**
 * One server of the config: brings what runs to what the file says, one step at a time, and keeps the last-known-good
 * when that fails (spec R2, R3, R6). Invariants: the registration is replaced in one synchronous step; a start that
 * finishes after it was overtaken is ended and changes nothing; a unit that is disposed leaves nothing running.
 */
import { assertNever } from '../base/assertNever.js';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { PendingEnds } from '../base/pendingEnds.js';
import type { Problem } from '../base/problem.js';
import { SingleFlight } from '../base/singleFlight.js';
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import { ListError, type Connection, type StartFailure, type ToolListing } from '../connections/connection.js';
import type { Connector } from '../connections/connector.js';
import { InstancePool, type PoolCallOutcome } from '../connections/instancePool.js';
import type { CallRequest } from '../connections/connection.js';
import { curate, type FilteredToolsReport } from '../tools/curate.js';
import { planStep } from './plan.js';
import { StartAttempt } from './startAttempt.js';
import { describeTrouble, type Registration, type Trouble, type UnitFacts } from './unitFacts.js';

export interface UnitOptions {
  readonly id: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly serverLog: Log;
  readonly connector: Connector;
  readonly filteredTools: () => FilteredToolsReport;
  /** Milliseconds that calls in flight have when their instance was replaced or removed (spec R4). */
  readonly drainLimitMs: number;
  readonly redact: (text: string) => string;
  /** What is published changed; called in the same turn. */
  readonly onCommit: () => void;
  /** Something a view shows changed. */
  readonly onChange: () => void;
}

export class ServerUnit {
  private wanted: ConfiguredServer | undefined;
  private registration_: Registration | undefined;
  private attempt: StartAttempt | undefined;
  private stopped: { readonly definition: ServerDefinition; readonly since: number } | undefined;
  private trouble: Trouble | undefined;
  private refreshTrouble: string | undefined;
  private divergedAt: number | undefined;
  private idleSince: number | undefined;
  private readonly ends: PendingEnds;
  private refreshFrom: Connection | undefined;
  private readonly refreshing = new SingleFlight(() => this.refresh());

  constructor(private readonly options: UnitOptions) {
    this.ends = new PendingEnds((error) => options.log.write('error', `${options.id}: ${String(error)}`));
  }

  get registration(): Registration | undefined {
    return this.registration_;
  }

  /** Resolves when no start of this unit is under way. */
  async settled(): Promise<void> {
    while (this.attempt) await this.attempt.done;
    await this.refreshing.settled();
  }

  /** The file says this now. */
  apply(wanted: ConfiguredServer | undefined): void {
    this.wanted = wanted;
    const step = planStep(wanted, {
      serving: this.registration_?.definition,
      starting: this.attempt?.definition,
      stopped: this.stopped?.definition,
    });
    switch (step.kind) {
      case 'none':
        break;
      case 'withdraw':
        this.abandonAttempt();
        this.stopped = undefined;
        this.trouble = undefined;
        this.withdraw('it was removed or disabled');
        break;
      case 'keepPrevious':
        this.abandonAttempt();
        this.trouble = undefined;
        break;
      case 'recurate':
        this.abandonAttempt();
        this.stopped = undefined;
        this.recurate(step.definition);
        break;
      case 'redirect':
        if (this.attempt) this.attempt.definition = step.definition;
        break;
      case 'start':
        this.stopped = undefined;
        this.startAttempt(step.definition);
        break;
      default:
        assertNever(step);
    }
    this.noteDivergence();
    this.options.onChange();
  }

  /** A person's start: of a stopped, failed or idle server. */
  async start(): Promise<void> {
    this.stopped = undefined;
    const definition = this.enabledDefinition();
    if (!definition) return;
    if (this.registration_?.definition.launchHash === definition.launchHash) {
      if (this.registration_.pool.live.length === 0) await this.restartServing(this.registration_);
    } else if (!this.attempt) {
      this.startAttempt(definition);
    }
    this.options.onChange();
    await this.settled();
  }

  /** A person's stop: the tools are withdrawn and every instance ends now; calls in flight fail. */
  async stop(): Promise<void> {
    const definition = this.enabledDefinition() ?? this.registration_?.definition;
    if (!definition) return;
    this.abandonAttempt();
    this.trouble = undefined;
    this.stopped = { definition, since: this.options.clock.now() };
    const registration = this.registration_;
    if (registration) {
      this.commit(undefined);
      this.ends.add(registration.pool.close('a person stopped it'));
    }
    this.options.onChange();
    await this.ends.settled();
  }

  async restart(): Promise<void> {
    const registration = this.registration_;
    const definition = this.enabledDefinition();
    if (!definition) return;
    if (registration?.definition.launchHash !== definition.launchHash) {
      this.abandonAttempt();
      return this.start();
    }
    await registration.pool.recycle('a person restarted it');
    await this.restartServing(registration);
    await this.settled();
  }

  call(dialog: string, request: Omit<CallRequest, 'timeouts'>): Promise<PoolCallOutcome> {
    const registration = this.registration_;
    if (!registration) return Promise.resolve({ kind: 'lost', cause: 'the server was stopped' });
    return registration.pool.call(dialog, { ...request, timeouts: registration.definition.timeouts });
  }

  release(dialog: string): Promise<boolean> {
    return this.registration_?.pool.release(dialog) ?? Promise.resolve(false);
  }

  async dispose(): Promise<void> {
    this.wanted = undefined;
    this.abandonAttempt();
    const registration = this.registration_;
    this.registration_ = undefined;
    if (registration) this.ends.add(registration.pool.close('the host is shutting down'));
    await this.gone();
  }

  /** Resolves when everything that was withdrawn, replaced or abandoned has ended. */
  gone(): Promise<void> {
    return this.ends.settled();
  }

  /** What the views show of it. */
  get facts(): UnitFacts {
    return {
      id: this.options.id,
      wanted: this.wanted,
      registration: this.registration_,
      startingSince: this.attempt?.since,
      stoppedSince: this.stopped?.since,
      idleSince: this.idleSince,
      divergedAt: this.divergedAt,
      trouble: this.trouble,
      refreshTrouble: this.refreshTrouble,
    };
  }

  private enabledDefinition(): ServerDefinition | undefined {
    return this.wanted?.kind === 'valid' && this.wanted.definition.enabled ? this.wanted.definition : undefined;
  }

  private startAttempt(definition: ServerDefinition): void {
    this.abandonAttempt();
    const { id, connector, serverLog, clock } = this.options;
    this.attempt = new StartAttempt(
      definition,
      clock.now(),
      (signal) =>
        connector.connect({
          server: id,
          launch: definition.launch,
          timeoutMs: definition.timeouts.connect,
          signal,
          log: serverLog,
        }),
      (attempt, outcome) => {
        this.attempt = undefined;
        if (outcome.kind === 'connected') this.succeed(attempt.definition, outcome.connection, outcome.listing);
        else if (outcome.kind === 'failed') this.fail(this.startFailed(attempt.definition, outcome.failure));
        this.noteDivergence();
        this.options.onChange();
      },
    );
    this.ends.add(this.attempt.done);
  }

  private succeed(definition: ServerDefinition, connection: Connection, listing: ToolListing): void {
    const curated = curate(definition, listing, this.options.filteredTools());
    if (curated.kind === 'refused') {
      this.fail(this.refused(definition, curated.problems));
      this.ends.add(connection.close());
      return;
    }
    const pool = this.createPool(definition);
    pool.adopt(connection);
    const replaced = this.registration_;
    this.trouble = undefined;
    this.refreshTrouble = undefined;
    const { serverInfo, instructions } = connection;
    this.commit({ definition, listing, curated, pool, serverInfo, instructions, since: this.options.clock.now() });
    if (replaced) this.ends.add(replaced.pool.drain(this.options.drainLimitMs, 'its definition was changed'));
  }

  private fail(trouble: Trouble): void {
    this.trouble = trouble;
    const { reason, fix } = describeTrouble(trouble);
    this.options.log.write('error', `${this.options.id}: ${reason} ${fix}`);
  }

  private startFailed({ launchHash }: ServerDefinition, failure: StartFailure): Trouble {
    const { redact, clock } = this.options;
    const redacted = { ...failure, message: redact(failure.message), fix: redact(failure.fix) };
    return { kind: 'startFailed', failure: redacted, launchHash, since: clock.now() };
  }

  private refused({ launchHash }: ServerDefinition, problems: readonly [Problem, ...Problem[]]): Trouble {
    return { kind: 'refused', problems, launchHash, since: this.options.clock.now() };
  }

  private recurate(definition: ServerDefinition): void {
    const serving = this.registration_;
    if (!serving) return;
    // Trouble with another definition is over; trouble with this one lasts until a start succeeds, and an edit asks again.
    if (this.trouble?.kind === 'refused' || this.trouble?.launchHash !== definition.launchHash)
      this.trouble = undefined;
    else if (this.trouble.kind === 'startFailed') this.ends.add(this.restartServing(serving));
    const same = serving.definition.viewHash === definition.viewHash;
    const curated = curate(definition, serving.listing, this.options.filteredTools());
    if (curated.kind === 'refused') {
      this.fail(this.refused(definition, curated.problems));
      return;
    }
    const next = { ...serving, definition, curated };
    // Places move with every edit of the file; only what agents see is a change of the registry.
    if (same) this.registration_ = next;
    else this.commit(next);
  }

  private withdraw(reason: string): void {
    const registration = this.registration_;
    if (!registration) return;
    this.commit(undefined);
    this.ends.add(registration.pool.drain(this.options.drainLimitMs, reason));
  }

  private async restartServing(registration: Registration): Promise<void> {
    const outcome = await registration.pool.startWarm();
    if (outcome.kind !== 'started' || this.registration_?.pool !== registration.pool) return;
    this.relist(outcome.listing);
  }

  private relist(listing: ToolListing): void {
    const serving = this.registration_;
    if (!serving) return;
    const curated = curate(serving.definition, listing, this.options.filteredTools());
    if (curated.kind === 'refused') {
      this.refreshTrouble = curated.problems[0].message;
    } else {
      this.refreshTrouble = undefined;
      this.commit({ ...serving, listing, curated });
    }
    this.options.onChange();
  }

  private async refresh(): Promise<void> {
    const connection = this.refreshFrom;
    const serving = this.registration_;
    if (!connection || !serving) return;
    try {
      const timeoutMs = serving.definition.timeouts.connect;
      const listing = await connection.listTools({ signal: new AbortController().signal, timeoutMs });
      if (this.registration_?.pool === serving.pool) this.relist(listing);
    } catch (error) {
      if (this.registration_?.pool !== serving.pool) return;
      if (!serving.pool.live.some((instance) => instance.connection === connection)) return;
      this.refreshTrouble = this.options.redact(error instanceof ListError ? error.message : String(error));
      this.options.onChange();
    }
  }

  private createPool(definition: ServerDefinition): InstancePool {
    const pool: InstancePool = new InstancePool({
      server: this.options.id,
      launch: definition.launch,
      trulyStateless: definition.trulyStateless,
      timeouts: () => this.registration_?.definition.timeouts ?? definition.timeouts,
      connector: this.options.connector,
      clock: this.options.clock,
      log: this.options.serverLog,
      onChange: () => {
        if (pool.live.length === 0) this.idleSince = this.options.clock.now();
        this.options.onChange();
      },
      onToolsChanged: (connection) => {
        if (this.registration_?.pool !== pool) return;
        this.refreshFrom = connection;
        void this.refreshing.request();
      },
      onDeath: (cause) => {
        if (this.registration_?.pool !== pool) return;
        this.fail({
          kind: 'lost',
          cause: this.options.redact(cause),
          launchHash: definition.launchHash,
          since: this.options.clock.now(),
        });
      },
      onStarted: () => {
        if (this.registration_?.pool === pool) this.trouble = undefined;
      },
      onStartFailed: (failure) => {
        if (this.registration_?.pool !== pool) return;
        this.fail(this.startFailed(definition, failure));
      },
    });
    return pool;
  }

  private commit(registration: Registration | undefined): void {
    this.registration_ = registration;
    this.noteDivergence();
    this.options.onCommit();
  }

  private noteDivergence(): void {
    const serving = this.registration_?.definition;
    const wanted = this.wanted?.kind === 'valid' ? this.wanted.definition : undefined;
    const same = wanted && serving?.launchHash === wanted.launchHash && serving.viewHash === wanted.viewHash;
    if (!serving || same || !this.wanted) this.divergedAt = undefined;
    else this.divergedAt ??= this.options.clock.now();
  }

  private abandonAttempt(): void {
    const attempt = this.attempt;
    this.attempt = undefined;
    attempt?.overtake();
  }
}
