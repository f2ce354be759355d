/**
 * Fake servers. Each connect waits until the test lets it succeed or fail. Each call waits for an
 * answer of the test. `live` has the open connections, so a test can check that none is left.
 */
import type { CallToolResult, ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import type {
  Connection,
  ConnectOutcome,
  OfferKind,
  StartFailure,
  TimedCall,
  TimedRequest,
  ToolListing,
  Connector,
  ConnectRequest,
} from '../../../src/core/connections/connection.js';
import type { Fields, ServerClient } from '../../../src/core/protocol/client.js';
import type { ServerOutcome } from '../../../src/core/protocol/request.js';

type CallOutcome = ServerOutcome<CallToolResult>;

export const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

export function listing(...names: string[]): ToolListing {
  return { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })), malformed: [] };
}

export const failure: StartFailure = {
  code: 'server-exited',
  message: 'exited.',
  fix: 'Mend it.',
  path: [],
};

export class FakeConnection implements Connection {
  readonly serverInfo = { name: 'fake', version: '1' };
  capabilities: ServerCapabilities = { tools: { listChanged: true } };
  protocolVersion = '2025-11-25';
  readonly pid = undefined;
  runs: Connection['runs'];
  readonly calls: { request: TimedCall; answer(outcome: CallOutcome): void }[] = [];
  /** The calls without an answer. */
  private readonly open = new Set<(outcome: CallOutcome) => void>();
  private readonly called = new Emitter<void>();
  private readonly changeEmitter = new Emitter<OfferKind>();
  private readonly updateEmitter = new Emitter<Fields>();
  private readonly deathEmitter = new Emitter<string>();
  private readonly renewalEmitter = new Emitter<void>();
  readonly onDidChangeOffer = this.changeEmitter.event;
  readonly onDidUpdateResource = this.updateEmitter.event;
  readonly taskUpdated = new Emitter<Fields>();
  readonly onDidUpdateTask = this.taskUpdated.event;
  readonly onDidRenewSession = this.renewalEmitter.event;
  /** Requests other than calls. `respond` answers each at once. */
  readonly requests: TimedRequest[] = [];
  readonly notified: { method: string; params: Fields | undefined }[] = [];
  respond: (request: TimedRequest) => ServerOutcome<Fields> = () => ({
    kind: 'result',
    result: {},
  });
  /** The clients for questions while nothing is in flight, the latest last. */
  readonly owners: ServerClient[] = [];
  readonly onDidDie = this.deathEmitter.event;
  closed = false;
  /** Resolves when the process of the server has ended. */
  ends: Promise<void> = Promise.resolve();
  isOver = false;
  private announceGone: () => void = () => {};
  readonly gone = new Promise<void>((resolve) => (this.announceGone = resolve));
  lists = 0;
  /** The lists past their lifetime. */
  readonly stale: OfferKind[] = [];

  constructor(
    readonly connectRequest: ConnectRequest,
    public offers: ToolListing | Error,
    private readonly ended: (connection: FakeConnection) => void,
    readonly instructions: string | undefined = undefined,
  ) {}

  listTools(): Promise<ToolListing> {
    this.lists++;
    return this.offers instanceof Error
      ? Promise.reject(this.offers)
      : Promise.resolve(this.offers);
  }

  listPrompts(): ReturnType<Connection['listPrompts']> {
    return Promise.resolve(this.offers instanceof Error ? undefined : this.offers.prompts);
  }

  listResources(): ReturnType<Connection['listResources']> {
    return Promise.resolve(this.offers instanceof Error ? undefined : this.offers.resources);
  }

  takeStale(): readonly OfferKind[] {
    return this.stale.splice(0);
  }

  request(request: TimedRequest): Promise<ServerOutcome<Fields>> {
    this.requests.push(request);
    return Promise.resolve(this.respond(request));
  }

  notify(method: string, params?: Fields): void {
    this.notified.push({ method, params });
  }

  readonly learning = undefined;

  belongsTo(client: ServerClient): void {
    this.owners.push(client);
  }

  callTool(request: TimedCall): Promise<CallOutcome> {
    return new Promise((resolve) => {
      const answer = (outcome: CallOutcome): void => {
        this.open.delete(answer);
        resolve(outcome);
      };
      this.open.add(answer);
      this.calls.push({ request, answer });
      request.signal.addEventListener('abort', () => answer({ kind: 'cancelled' }), { once: true });
      this.called.fire();
    });
  }

  async nextCall(): Promise<(typeof this.calls)[number]> {
    if (this.calls.length === 0) await nextEvent(this.called.event, () => true);
    const call = this.calls.shift();
    if (!call) throw new Error('no call');
    return call;
  }

  changeTools(offers: ToolListing | Error, kind: OfferKind = 'tools'): void {
    this.offers = offers;
    this.changeEmitter.fire(kind);
  }

  updateResource(uri: string): void {
    this.updateEmitter.fire({ uri });
  }

  renewSession(): void {
    this.renewalEmitter.fire();
  }

  die(cause: string): void {
    this.endCalls(cause);
    this.deathEmitter.fire(cause);
  }

  close(): Promise<void> {
    if (!this.closed) {
      this.closed = true;
      this.endCalls('closed');
      this.ended(this);
      this.announceGone();
    }
    return this.ends;
  }

  private endCalls(cause: string): void {
    for (const answer of [...this.open]) answer({ kind: 'lost', cause });
  }
}

interface PendingConnect {
  readonly request: ConnectRequest;
  succeed(offers: ToolListing, instructions?: string): FakeConnection;
  fail(failure: StartFailure): void;
}

export class FakeConnector implements Connector {
  readonly live = new Set<FakeConnection>();
  readonly pending: PendingConnect[] = [];
  connects = 0;
  private readonly asked = new Emitter<void>();
  /** Answers each connect at once, if set. */
  automatic: ((request: ConnectRequest) => ToolListing | StartFailure) | undefined;

  connect(request: ConnectRequest): Promise<ConnectOutcome> {
    // The real connector starts nothing after an abort, either.
    if (request.signal.aborted) return Promise.resolve({ kind: 'cancelled' });
    this.connects++;
    return new Promise((resolve) => {
      const pending: PendingConnect = {
        request,
        succeed: (offers, instructions) => {
          const connection = new FakeConnection(
            request,
            offers,
            (ended) => this.live.delete(ended),
            instructions,
          );
          this.live.add(connection);
          resolve({ kind: 'connected', connection, listing: offers });
          return connection;
        },
        fail: (why) => resolve({ kind: 'failed', failure: why }),
      };
      request.signal.addEventListener('abort', () => resolve({ kind: 'cancelled' }), {
        once: true,
      });
      if (this.automatic) {
        const answer = this.automatic(request);
        if ('tools' in answer) pending.succeed(answer);
        else pending.fail(answer);
        return;
      }
      this.pending.push(pending);
      this.asked.fire();
    });
  }

  async nextConnect(): Promise<PendingConnect> {
    for (;;) {
      const next = this.pending.shift();
      if (next && !next.request.signal.aborted) return next;
      if (!next) await nextEvent(this.asked.event, () => true);
    }
  }

  dispose(): Promise<void> {
    return Promise.resolve();
  }
}
