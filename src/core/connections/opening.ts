/**
 * Makes a transport into a connection whose tools are listed (X3): initializes, verifies and lists every page, all
 * under one signal. It is the same for both transports, starts and ends neither, and does not put failures into words.
 */
import type { JSONRPCErrorResponse, JSONRPCResponse } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../base/clock.js';
import { untilAborted } from '../base/events.js';
import type { Log } from '../base/log.js';
import type { LoopShare } from '../base/turns.js';
import { longestMs } from './callLimits.js';
import { ListError, type ConnectOutcome, type ToolListing } from './connection.js';
import { EarlyMessages } from './earlyMessages.js';
import { leastInitializeAnswer, readInitializeAnswer, type InitializeAnswer } from './handshake.js';
import { initializeId } from './ownRequests.js';
import { loadSdk } from './sdk.js';
import { declaredCapabilities, type Fields } from '../protocol/client.js';
import { SdkConnection } from './sdkConnection.js';
import { TrafficTrace } from './logging.js';
import { startFailure, type FailedOpening, type TransportFailures } from '../failures/startFailure.js';
import { TransportFailure } from '../failures/transportFailure.js';
import type { ServerTransport } from './transport.js';

export interface OpeningDeps {
  readonly transport: ServerTransport;
  readonly pid: number | undefined;
  readonly causeOfEnd: () => string;
  readonly clientVersion: string;
  /** The capabilities that its clients declared. */
  readonly capabilities: Fields;
  readonly clock: Clock;
  /** What all that the server says is charged to. */
  readonly share: LoopShare;
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
  | FailedOpening;

/** Tools that change while they are listed are listed again, this often at most. */
const mostListings = 3;
/** Prompts and resources that do not come are a problem of their own; the tools do not wait longer for them. */
const othersLimitMs = 5_000;

/** Opens a connection, or ends its transport and explains why. */
export async function connectOver(
  deps: OpeningDeps,
  timedOut: () => boolean,
  failures: TransportFailures,
): Promise<ConnectOutcome> {
  const opening = await openConnection(deps);
  if (opening.kind === 'opened') {
    const { connection, listing } = opening;
    return { kind: 'connected', connection, listing };
  }
  const failure = await startFailure(opening, deps.timeoutMs, failures);
  await deps.transport.close();
  return opening.kind === 'stopped' && !timedOut() ? { kind: 'cancelled' } : { kind: 'failed', failure };
}

export async function openConnection(deps: OpeningDeps): Promise<Opening> {
  const { transport, signal } = deps;
  const sdk = await loadSdk();
  if (signal.aborted) return { kind: 'stopped', during: 'initialize' };
  const client = sdk.createClient(deps.clientVersion, declaredCapabilities(deps.capabilities));
  const trace = new TrafficTrace({ log: deps.log, clock: deps.clock, enabled: deps.trace });
  const early = new EarlyMessages();
  const made: { connection?: SdkConnection } = {};
  const heard: Heard = { isAnswered: false };
  let hasEnded = false;
  transport.onsend = (message) => {
    trace.sent(message);
    made.connection?.sent(message);
  };
  transport.onreceive = (message) => trace.received(message);
  transport.onclose = () => {
    hasEnded = true;
    made.connection?.ended();
  };
  client.onerror = (error) => deps.log.write('debug', `[protocol] ${error.message}`);

  const connecting = client.connect(transport, { timeout: longestMs }).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  // The client listens by now, and hears nothing before this turn is over.
  const toClient = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const { connection } = made;
    if (!connection) {
      if ('method' in message) early.add(message);
      return toClient?.('method' in message ? message : hear(heard, message), extra);
    }
    connection.receive(message);
    // The client hears nothing of the answers to what it has not asked.
    if (!connection.takeAnswer(message)) toClient?.(message, extra);
  };
  const failed = await Promise.race([connecting, untilAborted(signal)]);
  if (signal.aborted) return { kind: 'stopped', during: 'initialize' };
  // The client ends the transport when initialize fails: its end says nothing here, the answer does.
  const { initialized, error } = heard;
  if (error && !initialized) return whyNot(error);
  if (initialized?.kind === 'wrong') return { kind: 'wrongAnswer', detail: initialized.detail };
  if (failed || !initialized) {
    const failure = failed?.error instanceof TransportFailure ? failed.error : undefined;
    return { kind: 'transport', failure };
  }

  const { pid, clock, share, log, causeOfEnd } = deps;
  const facts = { ...initialized.facts, ...(transport.speaks !== undefined && { protocolVersion: transport.speaks }) };
  const connection = new SdkConnection({ client, transport, facts, pid, clock, share, log, causeOfEnd });
  made.connection = connection;
  deps.onConnection?.(connection);
  for (const message of early.take()) connection.receive(message);
  if (hasEnded) return { kind: 'transport', failure: undefined };
  return await list(connection, deps);
}

/** What came of `initialize`. */
interface Heard {
  isAnswered: boolean;
  initialized?: InitializeAnswer;
  /** The answer, or what the server could not read before there was one. */
  error?: JSONRPCErrorResponse['error'];
}

/** Returns the answer as the client is to take it. Like the client, it takes the id for a number also where it is a text. */
function hear(heard: Heard, message: JSONRPCResponse): JSONRPCResponse {
  const isAnswer = Number(message.id) === initializeId && !heard.isAnswered;
  if (isAnswer) heard.isAnswered = true;
  if ('error' in message) {
    if (isAnswer || message.id === undefined) heard.error ??= message.error;
    return message;
  }
  if (!isAnswer) return message;
  heard.initialized = readInitializeAnswer(message.result);
  const { initialized } = heard;
  return initialized.kind === 'right' ? { ...message, result: leastInitializeAnswer(initialized.facts) } : message;
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
