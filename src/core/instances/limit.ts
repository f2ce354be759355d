/**
 * Limits how many instances may live at once (L2): it is a connector that has a slot for each, and makes room by
 * evicting the instance that was idle the longest. Invariants: there are never more connections than slots; a slot is
 * free only when its connection is gone; nothing with a call in flight is evicted.
 */
import { Emitter, nextEvent } from '../base/events.js';
import type { Connection, Connector, ConnectOutcome, ConnectRequest, StartFailure } from '../connections/connection.js';
import type { Log } from '../base/log.js';

/** The instance that uses a connection, and can be evicted. */
export interface SlotHolder {
  /** The time in epoch milliseconds since when it is idle; undefined while a call is in flight or it is ending. */
  idleSince(): number | undefined;
  /** Says whether it takes no more calls, so that its connection will be gone before long. */
  isEnding(): boolean;
  /** Resolves when the connection is gone. */
  evict(): Promise<void>;
}

export interface Slots {
  hold(connection: Connection, holder: SlotHolder): void;
}

interface Slot {
  /** It is undefined while the start is under way, and until somebody holds what it started. */
  holder: SlotHolder | undefined;
}

export class LimitedConnector implements Connector, Slots {
  private readonly slots = new Set<Slot>();
  private readonly slotOf = new WeakMap<Connection, Slot>();
  private readonly changes = new Emitter<void>();

  /** @param most is read at each start, as it may change while instances live */
  constructor(
    private readonly connector: Connector,
    private readonly most: () => number,
  ) {}

  async connect(request: ConnectRequest): Promise<ConnectOutcome> {
    while (this.slots.size >= this.most()) {
      if (request.signal.aborted) return { kind: 'cancelled' };
      const longest = this.longestIdle();
      if (longest) await longest.evict();
      // A start under way will be idle, or gone, before long; an instance that ends frees its slot.
      else if (this.isAnyInPassing()) await this.nextChange(request.signal);
      else return { kind: 'failed', failure: this.full() };
    }
    const slot: Slot = { holder: undefined };
    this.slots.add(slot);
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

  hold(connection: Connection, holder: SlotHolder): void {
    const slot = this.slotOf.get(connection);
    if (!slot) return;
    slot.holder = holder;
    this.changes.fire();
  }

  dispose(): Promise<void> {
    return this.connector.dispose();
  }

  private isAnyInPassing(): boolean {
    return [...this.slots].some(({ holder }) => holder === undefined || holder.isEnding());
  }

  private async nextChange(signal: AbortSignal): Promise<void> {
    // The loop that waits here sees an abort.
    await nextEvent(this.changes.event, () => true, signal).catch(() => undefined);
  }

  private longestIdle(): SlotHolder | undefined {
    let longest: { readonly holder: SlotHolder; readonly since: number } | undefined;
    for (const { holder } of this.slots) {
      const since = holder?.idleSince();
      if (holder && since !== undefined && (!longest || since < longest.since)) longest = { holder, since };
    }
    return longest?.holder;
  }

  private full(): StartFailure {
    const most = this.most();
    return {
      code: 'too-many-instances',
      message: `${most} instances live already, as many as may, and none of them is idle.`,
      fix: 'Release what is not needed, wait for a call to end, or raise mcpToolsets.maxInstances.',
      path: [],
    };
  }
}

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
          `${request.server}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
        return {
          kind: 'failed',
          failure: {
            code: 'server-protocol',
            message: `Starting "${request.server}" failed because of a defect of MCP Toolsets itself: ${String(error)}.`,
            fix: 'Restart the server; if it happens again, report it with the log of MCP Toolsets.',
            path: [],
          },
        };
      }
    },
    dispose: () => connector.dispose(),
  };
}
