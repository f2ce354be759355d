/**
 * Keeps one instance ready for the next conversation while others hold theirs (P9). Invariants: there is one at most, ready
 * or starting; it makes nobody wait and nobody's instance make room; who takes it is the only one who has it.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { untilAborted } from '../base/events.js';
import type { StartFailure, ToolListing } from '../connections/connection.js';
import { capabilitiesKey, type Fields } from '../protocol/client.js';
import type { Instance } from './instance.js';
import type { StartTurns } from './startTurns.js';

export type StartOutcome =
  | { readonly kind: 'started'; readonly instance: Instance; readonly listing: ToolListing }
  | { readonly kind: 'failed'; readonly failure: StartFailure }
  | { readonly kind: 'cancelled' };

interface SpareDeps {
  readonly clock: Clock;
  readonly turns: StartTurns;
  /** Whether one may be kept at all. */
  readonly isAllowed: () => boolean;
  /** Whether one more instance may live without another that ends for it. */
  readonly hasRoom: () => boolean;
  readonly start: (capabilities: Fields, signal: AbortSignal) => Promise<StartOutcome>;
  readonly onReady: (instance: Instance, listing: ToolListing) => void;
  readonly onFailed: (failure: StartFailure) => void;
  readonly retire: (instance: Instance, reason: string) => Promise<void>;
}

/** A start that somebody has taken over, with what ends it. */
interface ClaimedStart {
  readonly controller: AbortController;
  readonly outcome: Promise<StartOutcome>;
}

interface Starting extends ClaimedStart {
  readonly declares: string;
  readonly hurry: () => void;
}

/** The first call of the conversation that has just begun is not slowed down by the start, in milliseconds. */
const startDelayMs = 100;

export class Spare {
  private timer: Disposable | undefined;
  private starting: Starting | undefined;
  private instance: Instance | undefined;

  constructor(private readonly deps: SpareDeps) {}

  get ready(): Instance | undefined {
    return this.instance;
  }

  /** Somebody took an instance. Has another one follow, for a client that declares this. */
  follow(capabilities: Fields): void {
    if (this.timer || this.starting || this.instance || !this.deps.isAllowed()) return;
    this.timer = this.deps.clock.after(startDelayMs, () => {
      this.timer = undefined;
      if (!this.instance && this.deps.isAllowed()) this.begin(capabilities);
    });
  }

  /** Takes over the start under way, if it is for such a client: whoever takes it has what it starts. */
  claim(capabilities: Fields | undefined): ClaimedStart | undefined {
    const { starting } = this;
    if (!starting || (capabilities && capabilitiesKey(capabilities) !== starting.declares)) return undefined;
    this.starting = undefined;
    starting.hurry();
    return starting;
  }

  /** It is somebody's now, or gone. */
  forget(instance: Instance): void {
    if (this.instance === instance) this.instance = undefined;
  }

  /** Begins no more, and ends what is ready or starting. Resolves when it has ended. */
  async end(reason: string): Promise<void> {
    this.timer?.dispose();
    const { starting, instance } = this;
    this.timer = this.starting = this.instance = undefined;
    starting?.controller.abort();
    const started = await starting?.outcome;
    const ending = instance ?? (started?.kind === 'started' ? started.instance : undefined);
    if (ending) await this.deps.retire(ending, reason);
  }

  private begin(capabilities: Fields): void {
    const controller = new AbortController();
    const turn = this.deps.turns.take(false);
    const declares = capabilitiesKey(capabilities);
    const run = async (): Promise<StartOutcome> => {
      await Promise.race([turn.coming, untilAborted(controller.signal)]);
      const isOwn = this.starting === starting;
      if (!controller.signal.aborted && (!isOwn || this.deps.hasRoom())) {
        return await this.deps.start(capabilities, controller.signal);
      }
      if (isOwn) this.starting = undefined;
      return { kind: 'cancelled' };
    };
    const outcome = run().finally(() => turn.end());
    const starting: Starting = { controller, outcome, declares, hurry: () => turn.hurry() };
    this.starting = starting;
    void outcome.then((started) => {
      if (this.starting !== starting) return;
      this.starting = undefined;
      if (started.kind === 'failed') this.deps.onFailed(started.failure);
      if (started.kind !== 'started') return;
      this.instance = started.instance;
      this.instance.use = { kind: 'spare' };
      this.deps.onReady(started.instance, started.listing);
    });
  }
}
