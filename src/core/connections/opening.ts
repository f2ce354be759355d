/**
 * Makes a transport into a connection whose tools are listed (X3): initializes, verifies and lists every page, all
 * under one signal. It is the same for both transports, starts and ends neither, and does not put failures into words.
 */
import type { JSONRPCErrorResponse, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../base/clock.js';
import { untilAborted } from '../base/events.js';
import type { Log } from '../base/log.js';
import { longestMs } from './callLimits.js';
import { ListError, type ToolListing } from './connection.js';
import { readInitializeAnswer } from './handshake.js';
import type { Sdk } from './sdk.js';
import { declaredCapabilities, type Fields } from '../protocol/client.js';
import { SdkConnection } from './sdkConnection.js';
import { TrafficTrace } from './logging.js';
import { TransportFailure, type ServerTransport } from './transport.js';

export interface OpeningDeps {
  readonly transport: ServerTransport;
  readonly pid: number | undefined;
  readonly causeOfEnd: () => string;
  readonly sdk: Sdk;
  readonly clientVersion: string;
  /** The capabilities that its clients declared. */
  readonly capabilities: Fields;
  readonly clock: Clock;
  readonly log: Log;
  readonly trace: () => boolean;
  readonly timeoutMs: number;
  /** Called as soon as there is a connection, before its tools are listed. */
  readonly onConnection?: (connection: SdkConnection) => void;
  /** Aborted when the time is up or nobody wants the connection any more. */
  readonly signal: AbortSignal;
}

export type Opening =
  | { readonly kind: 'opened'; readonly connection: SdkConnection; readonly listing: ToolListing }
  /** The signal was aborted. */
  | { readonly kind: 'stopped'; readonly during: 'initialize' | 'list' }
  | { readonly kind: 'wrongAnswer'; readonly detail: string }
  | { readonly kind: 'refused'; readonly code: number; readonly message: string }
  /** The transport has ended, or says why the message came to nothing. */
  | { readonly kind: 'transport'; readonly failure: TransportFailure | undefined }
  | { readonly kind: 'listFailed'; readonly reason: string };

/** Tools that change while they are listed are listed again, this often at most. */
const mostListings = 3;
/** Prompts and resources that do not come are a problem of their own; the tools do not wait longer for them. */
const othersLimitMs = 5_000;

export async function openConnection(deps: OpeningDeps): Promise<Opening> {
  const { transport, signal, sdk } = deps;
  const client = sdk.createClient(deps.clientVersion, declaredCapabilities(deps.capabilities));
  const trace = new TrafficTrace({ log: deps.log, clock: deps.clock, enabled: deps.trace });
  const early: JSONRPCMessage[] = [];
  const made: { connection?: SdkConnection } = {};
  let answer: { readonly result: unknown } | { readonly error: JSONRPCErrorResponse['error'] } | undefined;
  let hasEnded = false;
  transport.onsend = (message) => {
    trace.sent(message);
    made.connection?.sent(message);
  };
  transport.onreceive = (message) => trace.received(message);
  transport.onmessage = (message) => {
    if ('result' in message) answer ??= { result: message.result };
    else if ('error' in message) answer ??= { error: message.error };
    if (made.connection) made.connection.receive(message);
    else if ('method' in message) early.push(message);
  };
  transport.onclose = () => {
    hasEnded = true;
    made.connection?.ended();
  };
  client.onerror = (error) => deps.log.write('debug', `[protocol] ${error.message}`);

  const failed = await Promise.race([
    client.connect(transport, { timeout: longestMs }).then(
      () => undefined,
      (error: unknown) => ({ error }),
    ),
    untilAborted(signal),
  ]);
  if (signal.aborted) return { kind: 'stopped', during: 'initialize' };
  // The client ends the transport when initialize fails: its end says nothing here, the answer does.
  if (answer && 'error' in answer) return whyNot(answer.error);
  const initialized = answer && readInitializeAnswer(answer.result);
  if (initialized?.kind === 'wrong') return { kind: 'wrongAnswer', detail: initialized.detail };
  if (failed || !initialized) {
    const failure = failed?.error instanceof TransportFailure ? failed.error : undefined;
    return { kind: 'transport', failure };
  }

  const { pid, clock, log, causeOfEnd } = deps;
  const facts = { ...initialized.facts, ...(transport.speaks !== undefined && { protocolVersion: transport.speaks }) };
  const connection = new SdkConnection({ client, transport, facts, pid, clock, log, causeOfEnd });
  made.connection = connection;
  const toClient = transport.onmessage;
  // The client hears nothing of the answers to what it has not asked.
  transport.onmessage = (message, extra) => {
    if (!connection.takeAnswer(message)) toClient?.(message, extra);
  };
  deps.onConnection?.(connection);
  for (const message of early) connection.receive(message);
  if (hasEnded) return { kind: 'transport', failure: undefined };
  return await list(connection, deps);
}

async function list(connection: SdkConnection, { signal, timeoutMs }: OpeningDeps): Promise<Opening> {
  try {
    for (let listings = 1; ; listings++) {
      const changes = connection.toolChanges;
      // They are listed at once, because what a server offers besides tools must not make its tools come later.
      const [listing, prompts, resources] = await Promise.all([
        connection.listTools({ signal, timeoutMs }),
        connection.listPrompts({ signal, timeoutMs: Math.min(timeoutMs, othersLimitMs) }),
        connection.listResources({ signal, timeoutMs: Math.min(timeoutMs, othersLimitMs) }),
      ]);
      const changed = connection.toolChanges !== changes;
      if (changed && listings < mostListings) continue;
      if (changed) connection.leaveChangeUnheard();
      return {
        kind: 'opened',
        connection,
        listing: { ...listing, ...(prompts && { prompts }), ...(resources && { resources }) },
      };
    }
  } catch (error) {
    if (signal.aborted) return { kind: 'stopped', during: 'list' };
    if (error instanceof ListError) {
      // Some servers let anyone initialize, and ask for a sign-in then.
      const failure = (error.cause as { data?: unknown } | undefined)?.data;
      const wantsSignIn = failure instanceof TransportFailure && failure.reason.kind === 'signIn';
      return wantsSignIn ? { kind: 'transport', failure } : { kind: 'listFailed', reason: error.message };
    }
    throw error;
  }
}

function whyNot({ code, message, data }: JSONRPCErrorResponse['error']): Opening {
  return data instanceof TransportFailure ? { kind: 'transport', failure: data } : { kind: 'refused', code, message };
}
