/**
 * One server of the config: brings what runs to what the file says, one step at a time, and keeps the last-known-good
 * when that fails (spec R2, R3, R6). Invariants: the registration is replaced in one synchronous step; a start that
 * finishes after it was overtaken is ended and changes nothing; a unit that is disposed leaves nothing running.
 */
import { assertNever } from '../base/assertNever.js';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { SingleFlight } from '../base/singleFlight.js';
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import { ListError, type Connection, type StartFailure, type ToolListing } from '../connections/connection.js';
import type { Connector } from '../connections/connector.js';
import { InstancePool, type PoolCallOutcome } from '../connections/instancePool.js';
import type { CallRequest } from '../connections/connection.js';
import { curate, type FilteredToolsReport } from '../tools/curate.js';
import { planStep } from './plan.js';
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

interface Attempt {
  definition: ServerDefinition;
  readonly controller: AbortController;
  readonly since: number;
  readonly done: Promise<void>;
}

export class ServerUnit {
  private wanted: ConfiguredServer | undefined;
  private registration_: Registration | undefined;
  private attempt: Attempt | undefined;
  private stopped: { readonly definition: ServerDefinition; readonly since: number } | undefined;
  private trouble: Trouble | undefined;
  private refreshTrouble: string | undefined;
  private divergedAt: number | undefined;
  private idleSince: number | undefined;
  private readonly leaving = new Set<Promise<void>>();
  private refreshFrom: Connection | undefined;
  private readonly refreshing = new SingleFlight(() => this.refresh());

  constructor(private readonly options: UnitOptions) {}

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
      this.keepUntilDone(registration.pool.close('a person stopped it'));
    }
    this.options.onChange();
    await Promise.all([...this.leaving]);
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
    if (registration) this.keepUntilDone(registration.pool.close('the host is shutting down'));
    await this.gone();
  }

  /** Resolves when everything that was withdrawn, replaced or abandoned has ended. */
  async gone(): Promise<void> {
    while (this.leaving.size > 0) await Promise.all([...this.leaving]);
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
    const controller = new AbortController();
    const begun: { attempt: Attempt | undefined } = { attempt: undefined };
    // The pool is made first: whatever connects is in a pool from its first moment.
    const pool = this.createPool(definition);
    const done = (async () => {
      const outcome = await this.options.connector.connect({
        server: this.options.id,
        launch: definition.launch,
        timeoutMs: definition.timeouts.connect,
        signal: controller.signal,
        log: this.options.serverLog,
      });
      const current = begun.attempt !== undefined && this.attempt === begun.attempt;
      if (outcome.kind === 'connected') {
        if (current) this.succeed(begun.attempt?.definition ?? definition, outcome.connection, outcome.listing, pool);
        else await outcome.connection.close();
      } else if (current) {
        this.attempt = undefined;
        if (outcome.kind === 'failed')
          this.fail({
            kind: 'startFailed',
            failure: this.redacted(outcome.failure),
            launchHash: definition.launchHash,
            since: this.options.clock.now(),
          });
      }
      this.noteDivergence();
      this.options.onChange();
    })();
    // `connect` is awaited, so this assignment comes before anything that reads it.
    begun.attempt = { definition, controller, since: this.options.clock.now(), done };
    this.attempt = begun.attempt;
    this.keepUntilDone(done);
  }

  private succeed(
    definition: ServerDefinition,
    connection: Connection,
    listing: ToolListing,
    pool: InstancePool,
  ): void {
    this.attempt = undefined;
    const curated = curate(definition, listing, this.options.filteredTools());
    if (curated.kind === 'refused') {
      this.fail({
        kind: 'refused',
        problems: curated.problems,
        launchHash: definition.launchHash,
        since: this.options.clock.now(),
      });
      this.keepUntilDone(connection.close());
      return;
    }
    pool.adopt(connection);
    const replaced = this.registration_;
    this.trouble = undefined;
    this.refreshTrouble = undefined;
    this.commit({
      definition,
      listing,
      curated,
      pool,
      serverInfo: connection.serverInfo,
      instructions: connection.instructions,
      since: this.options.clock.now(),
    });
    if (replaced) this.keepUntilDone(replaced.pool.drain(this.options.drainLimitMs, 'its definition was changed'));
  }

  private fail(trouble: Trouble): void {
    this.trouble = trouble;
    const { reason, fix } = describeTrouble(trouble);
    this.options.log.write('error', `${this.options.id}: ${reason} ${fix}`);
  }

  private recurate(definition: ServerDefinition): void {
    const serving = this.registration_;
    if (!serving) return;
    // Trouble with another definition is over; trouble with this one lasts until a start succeeds, and an edit asks again.
    if (this.trouble?.kind === 'refused' || this.trouble?.launchHash !== definition.launchHash)
      this.trouble = undefined;
    else if (this.trouble.kind === 'startFailed') this.keepUntilDone(this.restartServing(serving));
    const same = serving.definition.viewHash === definition.viewHash;
    const curated = curate(definition, serving.listing, this.options.filteredTools());
    if (curated.kind === 'refused') {
      this.fail({
        kind: 'refused',
        problems: curated.problems,
        launchHash: definition.launchHash,
        since: this.options.clock.now(),
      });
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
    this.keepUntilDone(registration.pool.drain(this.options.drainLimitMs, reason));
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
        this.fail({
          kind: 'startFailed',
          failure: this.redacted(failure),
          launchHash: definition.launchHash,
          since: this.options.clock.now(),
        });
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
    attempt?.controller.abort();
  }

  private redacted(failure: StartFailure): StartFailure {
    return { ...failure, message: this.options.redact(failure.message), fix: this.options.redact(failure.fix) };
  }

  private keepUntilDone(done: Promise<void>): void {
    const kept = done
      .catch((error: unknown) => this.options.log.write('error', `${this.options.id}: ${String(error)}`))
      .finally(() => this.leaving.delete(kept));
    this.leaving.add(kept);
  }
}
