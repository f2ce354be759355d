/**
 * Limits the number of live instances (L2). A start without a slot evicts a spare instance, then
 * the longest idle one, then the one with the longest wait for clients (G4). Invariants: there are
 * never more connections than slots; a slot is free only when its connection is gone; an instance
 * is never evicted while its server works on a call, or while enough others are ending.
 */
import { Emitter, nextEvent } from '../base/events.js';
import { asText } from '../base/text.js';
import type {
  Connection,
  Connector,
  ConnectOutcome,
  ConnectRequest,
  StartFailure,
} from '../connections/connection.js';
import type { Log } from '../base/log.js';

/** The user of a slot: a start or an instance. Times are in epoch milliseconds. */
export interface SlotHolder {
  readonly phase: 'starting' | 'live' | 'ending';
  readonly idleSince?: number | undefined;
  /**
   * The time since when all calls in flight wait for clients, if they have waited long enough to
   * make room.
   */
  readonly waitsSince?: number | undefined;
  /** True if no conversation has it or waits for it, and others hold theirs (P9). */
  readonly isSpare: boolean;
  /** Resolves when its connection is gone. */
  end(reason: string): Promise<void>;
}

export type NotStarted = Exclude<ConnectOutcome, { readonly kind: 'connected' }>;

interface Slot {
  holder: SlotHolder;
}

export class LimitedConnector {
  private readonly slots = new Set<Slot>();
  private readonly slotOf = new WeakMap<Connection, Slot>();
  private readonly changes = new Emitter<void>();
  private waiting = 0;

  /** @param most is read at each start, because the setting may change while instances live */
  constructor(
    private readonly connector: Connector,
    private readonly log: Log,
    private readonly most: () => number,
  ) {}

  async connect(request: ConnectRequest, holder: SlotHolder): Promise<ConnectOutcome> {
    const slot = await this.takeSlot(request.signal, holder);
    if ('kind' in slot) return slot;
    const outcome = await this.attempt(request);
    const free = (): void => {
      this.slots.delete(slot);
      this.changes.fire();
    };
    if (outcome.kind === 'connected') {
      this.slotOf.set(outcome.connection, slot);
      void outcome.connection.gone.then(free);
    } else free();
    return outcome;
  }

  /** Gives the slot of a start to its instance. */
  setHolder(connection: Connection, holder: SlotHolder): void {
    const slot = this.slotOf.get(connection);
    if (!slot) return;
    slot.holder = holder;
    this.changes.fire();
  }

  announceIdle(): void {
    this.changes.fire();
  }

  hasRoom(): boolean {
    return this.slots.size < this.most();
  }

  private async takeSlot(signal: AbortSignal, holder: SlotHolder): Promise<Slot | NotStarted> {
    this.waiting++;
    try {
      while (!this.hasRoom()) {
        if (signal.aborted) return { kind: 'cancelled' };
        const holders = [...this.slots].map((slot) => slot.holder);
        const ending = holders.filter(({ phase }) => phase === 'ending').length;
        // Every waiting start will have a slot when the ending holders are gone.
        const isEnough = holders.length - ending + this.waiting <= this.most();
        const idle = isEnough
          ? undefined
          : (holders.find(({ isSpare }) => isSpare) ?? longest(holders, 'idleSince'));
        const waiting = longest(holders, 'waitsSince');
        if (idle) await idle.end('it was idle the longest, and another instance needed the room');
        // A start will be idle or gone before long, and an instance that ends frees its slot.
        else if (holders.some(({ phase }) => phase !== 'live'))
          await nextEvent(this.changes.event, () => true, signal).catch(() => undefined);
        else if (waiting) await waiting.end(noAnswer);
        else return { kind: 'failed', failure: full(this.most()) };
      }
      const slot: Slot = { holder };
      this.slots.add(slot);
      return slot;
    } finally {
      this.waiting--;
    }
  }

  /**
   * A connector never rejects because of a server, so a rejection is our own error. It costs one
   * start (S2).
   */
  private async attempt(request: ConnectRequest): Promise<ConnectOutcome> {
    try {
      return await this.connector.connect(request);
    } catch (error) {
      const whole = error instanceof Error ? (error.stack ?? error.message) : asText(error);
      this.log.write('error', `${request.server}: ${whole}`);
      const message = `did not start, because of a defect in MCP Toolsets: ${asText(error)}.`;
      const fix =
        'Restart the server; if it happens again, report it with the log of MCP Toolsets.';
      return {
        kind: 'failed',
        failure: {
          code: 'server-protocol',
          message,
          fix,
          path: [],
        },
      };
    }
  }
}

const noAnswer =
  'its client left a question of the server open for a minute or longer, and another conversation needed the room';

function longest(
  holders: readonly SlotHolder[],
  what: 'idleSince' | 'waitsSince',
): SlotHolder | undefined {
  const since = (holder: SlotHolder): number => holder[what] ?? Infinity;
  const [first] = [...holders].sort((a, b) => since(a) - since(b));
  return first && since(first) < Infinity ? first : undefined;
}

function full(most: number): StartFailure {
  const message = `did not start: the limit of ${most} instances is reached, and none of them is idle.`;
  const fix =
    'Release an instance that you do not need, wait for a call to end, or raise mcpToolsets.maxInstances.';
  return {
    code: 'too-many-instances',
    message,
    fix,
    path: [],
  };
}
