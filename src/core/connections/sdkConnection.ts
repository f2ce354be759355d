/**
 * A connection over the SDK's client, on either transport. Results and tools pass through as the server gave them: the
 * client's own `listTools` and `callTool` are not used, as they compile every output schema and keep it for ever.
 *
 * Does not start or restart anything. Invariants: a call has one outcome, and is never sent twice; the outcomes of all
 * calls in flight are settled before `onDidDie` fires; what the server says about progress reaches the call before the
 * call's result does.
 */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type {
  CallToolResult,
  JSONRPCMessage,
  ResultSchema,
  ServerCapabilities,
} from '@modelcontextprotocol/sdk/types.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../base/clock.js';
import { Emitter, type Event } from '../base/events.js';
import type { Log, LogLevel } from '../base/log.js';
import { CallLimits, longestMs, type CallEnd } from './callLimits.js';
import { ListError, type CallOutcome, type CallRequest, type Connection, type ToolListing } from './connection.js';
import type { ServerFacts } from './initializeAnswer.js';
import { isObject, shortened } from './jsonRpc.js';
import { listAllTools } from './toolListing.js';
import { TransportFailure, type ServerTransport } from './transport.js';

export interface SdkConnectionParts {
  readonly client: Client;
  readonly resultSchema: typeof ResultSchema;
  readonly transport: ServerTransport;
  readonly facts: ServerFacts;
  readonly pid: number | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** In words, when the transport has ended. */
  readonly causeOfEnd: () => string;
}

type State =
  { readonly kind: 'live' } | { readonly kind: 'closed' } | { readonly kind: 'dead'; readonly cause: string };

const loggedDataLength = 4000;
const invalidAnswer = -32603;

export class SdkConnection implements Connection {
  readonly serverInfo: Connection['serverInfo'];
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly protocolVersion: string;
  readonly pid: number | undefined;
  private readonly toolsChanged = new Emitter<void>();
  private readonly died = new Emitter<string>();
  private readonly sessionRenewed = new Emitter<void>();
  readonly onDidChangeTools: Event<void> = (listener) => {
    const subscription = this.toolsChanged.event(listener);
    if (this.changedUnheard) queueMicrotask(() => this.toolsChanged.fire());
    this.changedUnheard = false;
    return subscription;
  };
  readonly onDidRenewSession = this.sessionRenewed.event;
  /** Who listens too late hears it too. */
  readonly onDidDie: Event<string> = (listener) => {
    const { told } = this;
    if (told === undefined) return this.died.event(listener);
    let wanted = true;
    queueMicrotask(() => wanted && listener(told));
    return { dispose: () => (wanted = false) };
  };

  private state: State = { kind: 'live' };
  private changedUnheard = false;
  private told: string | undefined;
  private nextToken = 1;
  private readonly progress = new Map<number, (params: Readonly<Record<string, unknown>>) => void>();
  private readonly inFlight = new Set<Promise<unknown>>();
  /** Counts up with each `list_changed`. */
  private changes = 0;

  constructor(private readonly parts: SdkConnectionParts) {
    ({
      serverInfo: this.serverInfo,
      instructions: this.instructions,
      capabilities: this.capabilities,
      protocolVersion: this.protocolVersion,
    } = parts.facts);
    this.pid = parts.pid;
  }

  get isOver(): boolean {
    return this.state.kind !== 'live' || this.parts.transport.isOver === true;
  }

  get toolChanges(): number {
    return this.changes;
  }

  /** The tools changed while they were listed, and the list is handed out all the same: who listens first hears it. */
  leaveChangeUnheard(): void {
    this.changedUnheard = true;
  }

  /** Hears every message before the client does: the client brings notifications one turn later than answers. */
  receive(message: JSONRPCMessage): void {
    if (!('method' in message) || 'id' in message) return;
    const params = message.params ?? {};
    switch (message.method) {
      case 'notifications/progress':
        this.progress.get(Number(params['progressToken']))?.(params);
        break;
      case 'notifications/tools/list_changed':
        this.changes += 1;
        this.toolsChanged.fire();
        break;
      case 'notifications/message':
        this.logMessage(params);
        break;
      default:
        break;
    }
  }

  /** The transport has a new session. */
  renewed(): void {
    this.sessionRenewed.fire();
    this.changes += 1;
    this.toolsChanged.fire();
  }

  /** The transport ended. */
  ended(): void {
    if (this.state.kind !== 'live') return;
    const cause = this.parts.causeOfEnd();
    this.state = { kind: 'dead', cause };
    void this.tell(cause);
  }

  /** The client rejects its requests in this turn; the calls, and who waits for them, follow before the next. */
  private async tell(cause: string): Promise<void> {
    await Promise.allSettled(this.inFlight);
    await nextTurn();
    this.told = cause;
    this.died.fire(cause);
    this.disposeEvents();
  }

  async listTools({ signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number }): Promise<ToolListing> {
    signal.throwIfAborted();
    if (!isObject(this.capabilities.tools)) return { tools: [], malformed: [] };
    // One for each page: the client never takes its listeners back, and would cancel pages that came long ago.
    let page = new AbortController();
    let timedOut = false;
    const aborted = (): void => page.abort(signal.reason);
    signal.addEventListener('abort', aborted, { once: true });
    const timer = this.parts.clock.after(timeoutMs, () => {
      timedOut = true;
      page.abort('tools/list took too long');
    });
    try {
      return await listAllTools((cursor) => {
        if (!page.signal.aborted) page = new AbortController();
        return this.request('tools/list', cursor === undefined ? undefined : { cursor }, page.signal);
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ListError) throw error;
      throw new ListError(this.whyNotListed(error, timedOut, timeoutMs), { cause: error });
    } finally {
      timer.dispose();
      signal.removeEventListener('abort', aborted);
    }
  }

  callTool(request: CallRequest): Promise<CallOutcome> {
    if (this.state.kind !== 'live') return Promise.resolve(this.lost());
    if (request.signal.aborted) return Promise.resolve({ kind: 'cancelled' });
    const call = this.call(request);
    this.inFlight.add(call);
    return call.finally(() => this.inFlight.delete(call));
  }

  async close(): Promise<void> {
    if (this.state.kind === 'live') this.state = { kind: 'closed' };
    await this.parts.transport.close();
    await Promise.allSettled(this.inFlight);
    this.disposeEvents();
  }

  private disposeEvents(): void {
    for (const emitter of [this.died, this.toolsChanged, this.sessionRenewed]) emitter.dispose();
  }

  private whyNotListed(error: unknown, timedOut: boolean, timeoutMs: number): string {
    if (timedOut) return `The server did not list its tools within ${timeoutMs / 1000} s.`;
    if (this.state.kind === 'dead') return `The connection ended while it listed its tools. ${this.state.cause}`;
    return `tools/list failed: ${rpcMessage(error)}`;
  }

  private async call({ name, arguments: args, meta, timeouts, signal, onProgress }: CallRequest): Promise<CallOutcome> {
    const token = this.nextToken++;
    const limits = new CallLimits(this.parts.clock, timeouts, signal);
    this.progress.set(token, (params) => {
      limits.signOfLife();
      onProgress(readProgress(params));
    });
    try {
      const params = { name, ...(args && { arguments: args }), _meta: { ...meta, progressToken: token } };
      return readResult(await this.request('tools/call', params, limits.signal));
    } catch (error) {
      return this.outcomeOf(error, limits.end);
    } finally {
      this.progress.delete(token);
      limits.dispose();
    }
  }

  /** Aborting sends `notifications/cancelled`. The client's own limit is put out of the way. */
  private request(method: string, params: object | undefined, signal: AbortSignal): Promise<unknown> {
    const message = { method, ...(params && { params }) } as Parameters<Client['request']>[0];
    return this.parts.client.request(message, this.parts.resultSchema, { signal, timeout: longestMs });
  }

  private outcomeOf(error: unknown, end: CallEnd | undefined): CallOutcome {
    if (end) return end;
    const { code, data } = error as { code?: unknown; data?: unknown };
    if (data instanceof TransportFailure) return outcomeOfFailure(data);
    if (this.state.kind !== 'live' || typeof code !== 'number') return this.lost(error);
    return { kind: 'error', code, message: rpcMessage(error), ...(data !== undefined && { data }) };
  }

  private lost(error?: unknown): CallOutcome {
    const { state } = this;
    if (state.kind === 'dead') return { kind: 'lost', cause: state.cause };
    if (state.kind === 'closed') return { kind: 'lost', cause: 'The connection was closed.' };
    return {
      kind: 'lost',
      cause: `The call could not be sent: ${error instanceof Error ? error.message : String(error)}`,
    };
  }

  private logMessage(params: Readonly<Record<string, unknown>>): void {
    const { level, logger, data } = params;
    const from = typeof logger === 'string' ? `[${logger}] ` : '';
    const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
    this.parts.log.write(logLevels[String(level)] ?? 'info', `${from}${shortened(text, loggedDataLength)}`);
  }
}

/** RFC 5424 levels of `notifications/message` to ours. */
const logLevels: Readonly<Record<string, LogLevel>> = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
};

/** Not delivered is an error of this call; delivered and unanswered is lost. */
function outcomeOfFailure(failure: TransportFailure): CallOutcome {
  const { trouble } = failure;
  const gatewayStatus = trouble.kind === 'status' && (trouble.status === 502 || trouble.status === 504);
  if (trouble.kind === 'broken' || trouble.kind === 'tooLarge' || trouble.kind === 'closed' || gatewayStatus) {
    return { kind: 'lost', cause: failure.message };
  }
  return { kind: 'error', code: -32000, message: failure.message };
}

function readResult(result: unknown): CallOutcome {
  const { content, ...rest } = result as { content?: unknown };
  if (Array.isArray(content)) return { kind: 'result', result: result as CallToolResult };
  // Allowed by older protocols beside structured content.
  if (content === undefined || content === null) return { kind: 'result', result: { ...rest, content: [] } };
  return {
    kind: 'error',
    code: invalidAnswer,
    message: 'The server answered the call with a `content` that is no list.',
  };
}

function readProgress({ progress, total, message }: Readonly<Record<string, unknown>>): {
  progress: number;
  total?: number;
  message?: string;
} {
  return {
    progress: typeof progress === 'number' ? progress : 0,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  };
}

/** The SDK puts the code before the server's words. */
function rpcMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const { code } = error as { code?: unknown };
  const prefix = `MCP error ${String(code)}: `;
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}
