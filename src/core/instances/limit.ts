/**
 * How many instances may live at once (L2): a connector that has a seat for each, and makes room by ending the
 * instance that was idle the longest. Invariants: never more connections than seats; a seat is free only when its
 * connection is gone; nothing with a call in flight is ended to make room.
 */
import { Emitter, type Event, nextEvent } from '../base/events.js';
import type {
  Connection,
  Connector,
  ConnectOutcome,
  ConnectRequest,
  ListOptions,
  StartFailure,
  TimedCall,
  TimedRequest,
  ToolListing,
} from '../connections/connection.js';
import type { Fields, ServerClient } from '../protocol/client.js';
import type { Log } from '../base/log.js';

/** Who uses a connection, and can be asked to give it up. */
export interface Occupant {
  /** Epoch milliseconds; undefined while a call is in flight or it is ending. */
  idleSince(): number | undefined;
  /** It takes no more calls, and its connection will be gone before long. */
  isEnding(): boolean;
  /** Resolves when the connection is gone. */
  vacate(): Promise<void>;
}

export interface Seats {
  occupy(connection: Connection, occupant: Occupant): void;
}

interface Seat {
  occupant: Occupant | undefined;
}

export class LimitedConnector implements Connector, Seats {
  private readonly seats = new Set<Seat>();
  private readonly changes = new Emitter<void>();

  /** @param most read at each start: it may change while instances live. */
  constructor(
    private readonly connector: Connector,
    private readonly most: () => number,
  ) {}

  async connect(request: ConnectRequest): Promise<ConnectOutcome> {
    while (this.seats.size >= this.most()) {
      if (request.signal.aborted) return { kind: 'cancelled' };
      const longest = this.longestIdle();
      if (longest) await longest.vacate();
      // A start under way will be idle, or gone, before long; an instance that ends leaves its seat.
      else if (this.isAnyInPassing()) await this.nextChange(request.signal);
      else return { kind: 'failed', failure: this.full() };
    }
    const seat: Seat = { occupant: undefined };
    this.seats.add(seat);
    const leave = (): void => {
      this.seats.delete(seat);
      this.changes.fire();
    };
    try {
      const outcome = await this.connector.connect(request);
      if (outcome.kind === 'connected') {
        return { ...outcome, connection: new SeatedConnection(outcome.connection, seat, leave) };
      }
      leave();
      return outcome;
    } catch (error) {
      leave();
      throw error;
    }
  }

  occupy(connection: Connection, occupant: Occupant): void {
    if (!(connection instanceof SeatedConnection)) return;
    connection.seat.occupant = occupant;
    this.changes.fire();
  }

  dispose(): Promise<void> {
    return this.connector.dispose();
  }

  private isAnyInPassing(): boolean {
    return [...this.seats].some(({ occupant }) => occupant === undefined || occupant.isEnding());
  }

  private async nextChange(signal: AbortSignal): Promise<void> {
    // An abort is seen by the loop that waits here.
    await nextEvent(this.changes.event, () => true, signal).catch(() => undefined);
  }

  private longestIdle(): Occupant | undefined {
    let longest: { readonly occupant: Occupant; readonly since: number } | undefined;
    for (const { occupant } of this.seats) {
      const since = occupant?.idleSince();
      if (occupant && since !== undefined && (!longest || since < longest.since)) longest = { occupant, since };
    }
    return longest?.occupant;
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

/** A connection whose seat is free when it is gone. */
class SeatedConnection implements Connection {
  readonly serverInfo: Connection['serverInfo'];
  readonly instructions: string | undefined;
  readonly capabilities: Connection['capabilities'];
  readonly protocolVersion: string;
  readonly pid: number | undefined;
  readonly onDidChangeOffer: Connection['onDidChangeOffer'];
  readonly onDidUpdateResource: Connection['onDidUpdateResource'];
  readonly onDidDie: Event<string>;
  declare readonly onDidRenewSession?: Event<void>;

  constructor(
    private readonly inner: Connection,
    readonly seat: Seat,
    private readonly leave: () => void,
  ) {
    this.serverInfo = inner.serverInfo;
    this.instructions = inner.instructions;
    this.capabilities = inner.capabilities;
    this.protocolVersion = inner.protocolVersion;
    this.pid = inner.pid;
    this.onDidChangeOffer = inner.onDidChangeOffer;
    this.onDidUpdateResource = inner.onDidUpdateResource;
    this.onDidDie = inner.onDidDie;
    if (inner.onDidRenewSession) this.onDidRenewSession = inner.onDidRenewSession;
  }

  get isOver(): boolean {
    return this.inner.isOver === true;
  }

  listTools(options: ListOptions): Promise<ToolListing> {
    return this.inner.listTools(options);
  }

  listPrompts(options: ListOptions): ReturnType<Connection['listPrompts']> {
    return this.inner.listPrompts(options);
  }

  listResources(options: ListOptions): ReturnType<Connection['listResources']> {
    return this.inner.listResources(options);
  }

  request(request: TimedRequest): ReturnType<Connection['request']> {
    return this.inner.request(request);
  }

  notify(method: string, params?: Fields): void {
    this.inner.notify(method, params);
  }

  belongsTo(client: ServerClient): void {
    this.inner.belongsTo(client);
  }

  callTool(request: TimedCall): ReturnType<Connection['callTool']> {
    return this.inner.callTool(request);
  }

  close(): Promise<void> {
    return this.inner.close().finally(this.leave);
  }
}

/**
 * A connector whose own faults cost one start and nothing else (S2): it never rejects for what a server does, so a
 * rejection is an error of this software. It is logged whole, and the person reads that it is one.
 */

export function faultTolerant(connector: Connector, log: Log): Connector {
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
            message: `Starting "${request.server}" failed by a fault of MCP Toolsets itself: ${String(error)}.`,
            fix: 'Restart the server; if it happens again, report it with the log of MCP Toolsets.',
            path: [],
          },
        };
      }
    },
    dispose: () => connector.dispose(),
  };
}
