/**
 * Keeps one instance ready for the next conversation while others hold theirs (P9). Invariants: there is one at most, ready
 * or starting; it makes nobody wait and nobody's instance make room; who takes it is the only one who has it.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { untilAborted } from '../base/events.js';
import type { Connection, ConnectOutcome, StartFailure, ToolListing } from '../connections/connection.js';
import { capabilitiesKey, type Fields } from '../protocol/client.js';
import type { Instance } from './instance.js';
import type { Surrender } from './limit.js';
import type { StartTurns } from './startTurns.js';

interface SpareDeps {
  readonly clock: Clock;
  readonly turns: StartTurns;
  /** Whether one may be kept at all. */
  readonly isAllowed: () => boolean;
  /** Whether one more instance may live without another that ends for it. */
  readonly hasRoom: () => boolean;
  readonly start: (capabilities: Fields, signal: AbortSignal, surrender: Surrender) => Promise<ConnectOutcome>;
  readonly make: (connection: Connection, declared: Fields) => Instance;
  readonly onReady: (instance: Instance, listing: ToolListing) => void;
  readonly onFailed: (failure: StartFailure) => void;
  readonly retire: (instance: Instance, reason: string) => Promise<void>;
}

/** A start that somebody has taken over, with what ends it. */
interface ClaimedStart {
  readonly controller: AbortController;
  readonly outcome: Promise<ConnectOutcome>;
  /** The capabilities of clients that the server is told of. */
  readonly declared: Fields;
}

interface Starting extends ClaimedStart {
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
    if (!starting || (capabilities && capabilitiesKey(capabilities) !== capabilitiesKey(starting.declared)))
      return undefined;
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
    if (instance) await this.deps.retire(instance, reason);
    const connected = await starting?.outcome;
    if (connected?.kind === 'connected') await connected.connection.close();
  }

  private begin(declared: Fields): void {
    const controller = new AbortController();
    const turn = this.deps.turns.take(false);
    const run = async (): Promise<ConnectOutcome> => {
      await Promise.race([turn.coming, untilAborted(controller.signal)]);
      const isOwn = this.starting === starting;
      if (!controller.signal.aborted && (!isOwn || this.deps.hasRoom())) {
        const surrender: Surrender = () => (this.starting === starting ? (reason) => this.end(reason) : undefined);
        return await this.deps.start(declared, controller.signal, surrender);
      }
      if (isOwn) this.starting = undefined;
      return { kind: 'cancelled' };
    };
    const outcome = run().finally(() => turn.end());
    const starting: Starting = { controller, outcome, declared, hurry: () => turn.hurry() };
    this.starting = starting;
    void outcome.then((connected) => {
      if (this.starting !== starting) return;
      this.starting = undefined;
      if (connected.kind === 'failed') this.deps.onFailed(connected.failure);
      if (connected.kind !== 'connected') return;
      this.instance = this.deps.make(connected.connection, declared);
      this.instance.use = { kind: 'spare' };
      this.deps.onReady(this.instance, connected.listing);
    });
  }
}
