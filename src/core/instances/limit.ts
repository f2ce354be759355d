/**
 * Limits how many instances may live at once (L2): it is a connector that has a slot for each, and makes room by
 * evicting a spare instance, or the one that was idle the longest, or the one whose calls have waited the longest for clients
 * that may never answer (G4). Invariants: there are never more connections than slots; a slot is free only when its
 * connection is gone; nothing that has a call in flight with its server is evicted, and nothing at all where enough is going
 * anyway.
 */
import { Emitter, nextEvent } from '../base/events.js';
import { asText } from '../base/text.js';
import type { Connection, Connector, ConnectOutcome, ConnectRequest, StartFailure } from '../connections/connection.js';
import type { Log } from '../base/log.js';

/** The instance that uses a connection, and can be evicted. */
export interface SlotHolder {
  /** The time in epoch milliseconds since when it is idle; undefined while a call is in flight or it is ending. */
  readonly idleSince: number | undefined;
  /** The same since when all calls in flight wait for clients, if that is so long that they may make room. */
  readonly waitsSince: number | undefined;
  /** Says whether it takes no more calls, so that its connection will be gone before long. */
  readonly isEnding: boolean;
  /** Nobody has used it yet, and others hold theirs (P9). */
  readonly isSpare: boolean;
}

export type NotStarted = Exclude<ConnectOutcome, { readonly kind: 'connected' }>;

/** Ends the holder of a slot. Resolves when its connection is gone. */
type Evict = (reason: string) => Promise<void>;

/** Returns what ends a start, as long as nobody waits for it. */
export type Surrender = () => Evict | undefined;

export interface Slots extends Connector {
  /** @param surrender is there where the start makes room for others */
  connect(request: ConnectRequest, surrender?: Surrender): Promise<ConnectOutcome>;
  hold(connection: Connection, holder: SlotHolder, evict: Evict): void;
  /** What holds a slot is idle from now on. */
  noteIdle(): void;
  /** Says whether a start would find a slot without anything that ends for it. */
  hasRoom(): boolean;
}

interface Slot {
  /** It is undefined while the start is under way, and until somebody holds what it started. */
  held: { readonly by: SlotHolder; readonly evict: Evict } | undefined;
  /** Of the start. */
  readonly signal: AbortSignal;
  readonly surrender: Surrender | undefined;
}

export class LimitedConnector implements Slots {
  private readonly slots = new Set<Slot>();
  private readonly slotOf = new WeakMap<Connection, Slot>();
  private readonly changes = new Emitter<void>();
  /** How many starts wait for a slot. */
  private waiting = 0;

  /** @param most is read at each start, as it may change while instances live */
  constructor(
    private readonly connector: Connector,
    private readonly most: () => number,
  ) {}

  async connect(request: ConnectRequest, surrender?: Surrender): Promise<ConnectOutcome> {
    const slot = await this.takeSlot(request.signal, surrender);
    if ('kind' in slot) return slot;
    const free = (): void => {
      this.slots.delete(slot);
      this.changes.fire();
    };
    try {
      const outcome = await this.connector.connect(request);
      if (outcome.kind === 'connected') {
        this.slotOf.set(outcome.connection, slot);
        void outcome.connection.gone.then(free);
      } else {
        free();
      }
      return outcome;
    } catch (error) {
      free();
      throw error;
    }
  }

  hold(connection: Connection, by: SlotHolder, evict: Evict): void {
    const slot = this.slotOf.get(connection);
    if (!slot) return;
    slot.held = { by, evict };
    this.changes.fire();
  }

  noteIdle(): void {
    this.changes.fire();
  }

  hasRoom(): boolean {
    return this.slots.size < this.most();
  }

  dispose(): Promise<void> {
    return this.connector.dispose();
  }

  /** Resolves with why there is none. */
  private async takeSlot(signal: AbortSignal, surrender?: Surrender): Promise<Slot | NotStarted> {
    this.waiting++;
    try {
      while (!this.hasRoom()) {
        if (signal.aborted) return { kind: 'cancelled' };
        const evictIdle = this.isEnoughGoing() ? undefined : (this.spare() ?? this.longest('idleSince'));
        const evictWaiting = this.longest('waitsSince');
        if (evictIdle) await evictIdle('it was idle the longest, and another instance needed the room');
        // A start under way will be idle, or gone, before long; an instance that ends frees its slot.
        else if (this.isAnyInPassing()) await this.nextChange(signal);
        else if (evictWaiting) await evictWaiting(noAnswer);
        else return { kind: 'failed', failure: this.full() };
      }
      const slot: Slot = { held: undefined, signal, surrender };
      this.slots.add(slot);
      return slot;
    } finally {
      this.waiting--;
    }
  }

  /** Says whether all starts that wait have a slot when what is ending, and what was cancelled, is gone. */
  private isEnoughGoing(): boolean {
    const going = [...this.slots].filter(({ held, signal }) => (held ? held.by.isEnding : signal.aborted));
    return this.slots.size - going.length + this.waiting <= this.most();
  }

  private isAnyInPassing(): boolean {
    return [...this.slots].some(({ held }) => held === undefined || held.by.isEnding);
  }

  private async nextChange(signal: AbortSignal): Promise<void> {
    // The loop that waits here sees an abort.
    await nextEvent(this.changes.event, () => true, signal).catch(() => undefined);
  }

  /** It comes first, ready or starting: nobody holds it. */
  private spare(): Evict | undefined {
    for (const { held, surrender } of this.slots) {
      if (held?.by.isSpare && held.by.idleSince !== undefined) return held.evict;
      const end = held ? undefined : surrender?.();
      if (end) return end;
    }
    return undefined;
  }

  private longest(what: 'idleSince' | 'waitsSince'): Evict | undefined {
    let longest: Slot['held'];
    let from = Infinity;
    for (const { held } of this.slots) {
      const since = held?.by[what] ?? Infinity;
      if (since < from) [longest, from] = [held, since];
    }
    return longest?.evict;
  }

  private full(): StartFailure {
    const most = this.most();
    return {
      code: 'too-many-instances',
      message: `did not start: the limit of ${most} instances is reached, and none of them is idle.`,
      fix: 'Release an instance that you do not need, wait for a call to end, or raise mcpToolsets.maxInstances.',
      path: [],
    };
  }
}

const noAnswer =
  'its client left a question of the server open for a minute or longer, and another conversation needed the room';

/**
 * Makes a connector whose own defects cost one start and nothing else (S2). The inner one never rejects for what a
 * server does, so a rejection is an error of this software: it is logged whole, and the person reads that it is one.
 */
export function defectTolerant(connector: Connector, log: Log): Connector {
  return {
    connect: async (request) => {
      try {
        return await connector.connect(request);
      } catch (error) {
        log.write(
          'error',
          `${request.server}: ${error instanceof Error ? (error.stack ?? error.message) : asText(error)}`,
        );
        return {
          kind: 'failed',
          failure: {
            code: 'server-protocol',
            message: `did not start, because of a defect in MCP Toolsets: ${asText(error)}.`,
            fix: 'Restart the server; if it happens again, report it with the log of MCP Toolsets.',
            path: [],
          },
        };
      }
    },
    dispose: () => connector.dispose(),
  };
}
