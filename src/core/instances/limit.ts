/**
 * Limits the number of live leases, and apart from them the number of other instances (L2b). A start
 * without a slot evicts a spare instance, then the longest idle one, then the one with the longest
 * wait for clients (G4). Invariants: there are never more connections than slots; a slot is free
 * only when its connection is gone; an instance is never evicted while its server works on a call,
 * or while enough others are ending; a lease is not evicted within five minutes of its last use.
 */
import { english } from '../base/language.js';
import type { CancelSignal } from '../base/cancellation.js';
import type { Clock } from '../base/clock.js';
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

/** The user of a slot: a start or an instance. Times are of `clock.awake`. */
export interface SlotHolder {
  readonly phase: 'starting' | 'live' | 'ending';
  /** True if a conversation has it or waits for it, which may change. A shared one is no lease. */
  readonly isLease: boolean;
  readonly idleSince?: number | undefined;
  /**
   * The time since when all calls in flight wait for clients, if they have waited long enough to
   * make room.
   */
  readonly waitsSince?: number | undefined;
  /** True if it is for a next conversation, and others hold theirs (P9). */
  readonly isSpare: boolean;
  /** Resolves when its connection is gone. */
  end(reason: string): Promise<void>;
}

export type NotStarted = Exclude<ConnectOutcome, { readonly kind: 'connected' }>;

interface Slot {
  holder: SlotHolder;
}

const usualLimit = 32;
/** The milliseconds after its last use in which a lease makes no room. */
const keptMs = 5 * 60_000;

export class LimitedConnector {
  private readonly slots = new Set<Slot>();
  private readonly slotOf = new WeakMap<Connection, Slot>();
  private readonly changes = new Emitter<void>();
  private readonly waiting = new Set<Pick<SlotHolder, 'isLease'>>();
  private limitOfFiles: number | undefined;
  private returns = { count: 0, most: 0 };

  /** @param given returns the limit of an option or a setting, which may change at any time */
  constructor(
    private readonly connector: Connector,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly given: () => number | undefined,
  ) {}

  get most(): number {
    return this.given() ?? this.limitOfFiles ?? usualLimit;
  }

  setLimitOfFiles(most: number | undefined): void {
    this.limitOfFiles = most;
    this.changes.fire();
  }

  /** Counts the conversations that lost an instance to the present limit and needed it again. */
  get evictedInVain(): number {
    return this.returns.most === this.most ? this.returns.count : 0;
  }

  noteReplaced(cause: string): void {
    if (cause !== wasIdle && cause !== noAnswer) return;
    this.returns = { count: this.evictedInVain + 1, most: this.most };
  }

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

  hasRoom(like: Pick<SlotHolder, 'isLease'>): boolean {
    return this.holdersLike(like).length < this.most;
  }

  private holdersLike({ isLease }: Pick<SlotHolder, 'isLease'>): SlotHolder[] {
    const holders = [...this.slots].map(({ holder }) => holder);
    return holders.filter((one) => one.isLease === isLease);
  }

  private async takeSlot(signal: AbortSignal, holder: SlotHolder): Promise<Slot | NotStarted> {
    // Another start may have taken the room before this one goes on.
    while (!this.hasRoom(holder)) {
      const refused = await this.makeRoom(signal, holder);
      if (refused) return refused;
    }
    const slot: Slot = { holder };
    this.slots.add(slot);
    return slot;
  }

  /** Resolves to undefined when there is room. */
  async makeRoom(
    signal: CancelSignal,
    holder: Pick<SlotHolder, 'isLease'>,
  ): Promise<NotStarted | undefined> {
    this.waiting.add(holder);
    try {
      while (!this.hasRoom(holder)) {
        if (signal.aborted) return { kind: 'cancelled' };
        const { isLease } = holder;
        const holders = this.holdersLike(holder);
        const ending = holders.filter(({ phase }) => phase === 'ending').length;
        const starts = [...this.waiting].filter((one) => one.isLease === isLease).length;
        // Every waiting start will have a slot when the ending holders are gone.
        const isEnough = holders.length - ending + starts <= this.most;
        const before = isLease ? this.clock.awake() - keptMs : Infinity;
        const idle = isEnough
          ? undefined
          : (holders.find(({ isSpare }) => isSpare) ?? longest(holders, 'idleSince', before));
        const waiting = longest(holders, 'waitsSince');
        if (idle) await idle.end(wasIdle);
        // A start will be idle or gone before long, and an instance that ends frees its slot.
        else if (holders.some(({ phase }) => phase !== 'live'))
          await nextEvent(this.changes.event, () => true, signal).catch(() => undefined);
        else if (waiting) await waiting.end(noAnswer);
        else return { kind: 'failed', failure: full(this.most) };
      }
      return undefined;
    } finally {
      this.waiting.delete(holder);
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
      const message = english`did not start, because of a defect in MCP Toolsets: ${asText(error)}.`;
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

const wasIdle = 'it was idle the longest, and another instance needed the room';
const noAnswer =
  'its client left a question of the server open for a minute or longer, and another conversation needed the room';

function longest(
  holders: readonly SlotHolder[],
  what: 'idleSince' | 'waitsSince',
  before = Infinity,
): SlotHolder | undefined {
  const since = (holder: SlotHolder): number => holder[what] ?? Infinity;
  const [first] = [...holders].sort((a, b) => since(a) - since(b));
  return first && since(first) < before ? first : undefined;
}

function full(most: number): StartFailure {
  const message = english`did not start: the limit of ${most} instances is reached, and each of them was used in the last five minutes.`;
  const fix =
    'Release an instance that you do not need, or raise the limit by `maxInstances` at the head of .minds/mcp.yaml, unless `--max-instances` or the setting mcpToolsets.maxInstances is given.';
  return {
    code: 'too-many-instances',
    message,
    fix,
    path: [],
  };
}
