/**
 * Joins a stdio client to the gateway (G6). Invariants: a request is sent again only if it was not
 * delivered (X4) or only listens; every request is answered, unless the client cancelled it; stdout
 * has nothing but messages.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { limited } from '../base/clock.js';
import { orAborted } from '../base/events.js';
import { asFields } from '../base/isObject.js';
import { asText, messageOf } from '../base/text.js';
import type { LostCall } from '../calls/lostCall.js';
import { TransportFailure, wasNotDelivered } from '../failures/transportFailure.js';
import { Peer, type PeerListener, type Result } from '../peer/peer.js';
import type { Fields } from '../protocol/client.js';
import { errorCodes, RpcFailure } from '../protocol/errors.js';
import { addressConversation, sessionConversation } from '../protocol/conversationLabel.js';
import { gatewayEnded, lostCallText } from '../protocol/lostCall.js';
import { metaKeys, metaOf, mostUnread, type Era } from '../protocol/versions.js';
import { Line, type LineDeps, type Way, OwnAddress } from './line.js';
import { LineSplitter } from '../connections/stdio/lineSplitter.js';
import {
  errorMessage,
  messagesOf,
  parsePayload,
  wireMessage,
  type RequestId,
} from '../protocol/jsonRpc.js';

interface BridgeDeps extends Pick<LineDeps, 'find' | 'clock' | 'log' | 'version'> {
  readonly input: Readable;
  readonly output: Writable;
  /** The gateway has died during a call, and has not recorded it. */
  readonly onLost?: (call: LostCall) => void;
}

interface Subscription {
  readonly request: JSONRPCRequest;
  /** True from the second sending until the gateway has agreed. */
  isRepeated: boolean;
  tasks: readonly unknown[];
  /** Ends it at both sides. */
  end: () => void;
}

/** A client with much unread output gets none of these. */
const mayGetLost = ['message', 'progress', 'resources/updated'].map(
  (topic) => `notifications/${topic}`,
);

/**
 * The lists that may have changed without a gateway: their keys in a result, and the topics of
 * their notifications.
 */
const lists = [
  {
    method: 'tools/list',
    key: 'tools',
    topic: 'tools',
  },
  {
    method: 'prompts/list',
    key: 'prompts',
    topic: 'prompts',
  },
  {
    method: 'resources/list',
    key: 'resources',
    topic: 'resources',
  },
  {
    method: 'resources/templates/list',
    key: 'resourceTemplates',
    topic: 'resources',
  },
] as const;

const topics = [...new Set(lists.map(({ topic }) => topic))];

interface ReadList {
  readonly era: Era;
  readonly params: Result | undefined;
  /** The digest of its only page; undefined for a list with more pages, which counts as changed. */
  readonly digest: string | undefined;
}

export class Bridge {
  private first: JSONRPCRequest | undefined;
  private readonly lines: Readonly<Record<Era, Line>>;
  private readonly address = new OwnAddress();
  private readonly pipe: ClientPipe;
  private readonly client: Peer;
  private readonly subscriptions = new Map<RequestId, Subscription>();
  /** The newest lists of the client, by method. */
  private readonly read = new Map<string, ReadList>();
  private asked = 0;
  /** Resolves when the messages that begin the session have arrived. */
  private begun: Promise<unknown> = Promise.resolve();
  /** The answers that the client waits for. */
  private readonly due = new Set<Promise<unknown>>();

  constructor(private readonly deps: BridgeDeps) {
    const { input, output, clock, log } = deps;
    this.pipe = new ClientPipe(input, output);
    this.client = new Peer(
      {
        transport: this.pipe,
        clock,
        log,
      },
      {
        answer: (request, signal) => this.answer(request, signal),
        hear: (notification) => this.hear(notification),
        ended: () => {},
      },
    );
    const listener: PeerListener = {
      answer: ({ method, params }, signal) => this.client.request(method, params, signal),
      hear: (notification) => this.hearGateway(notification),
      ended: () => {},
    };
    const both = {
      ...deps,
      listener,
      onRenewed: () => void this.tellChanges(),
    };
    this.lines = {
      legacy: new Line({ ...both, begin: (way, _, times) => this.beginAgain(way, times) }),
      modern: new Line({
        ...both,
        find: async () => this.address.at(await deps.find()),
        begin: (way, address) => {
          way.speakModern();
          this.address.attend(address);
        },
      }),
    };
  }

  /**
   * Resolves when the client has ended its input and has its answers, or when the signal is aborted;
   * its conversation is over then.
   */
  async run(signal: AbortSignal): Promise<void> {
    await this.pipe.read(signal);
    const { clock, output } = this.deps;
    if (output.writable)
      await limited(clock, lastAnswersMs, signal, (over) => orAborted(Promise.all(this.due), over));
    this.pipe.onclose?.();
    await Promise.all(Object.values(this.lines).map((line) => line.close()));
    await this.address.giveBack();
  }

  /** Over stdio, a client need not wait: the order of the lines is the order of the messages. */
  private answer(request: JSONRPCRequest, signal: AbortSignal): Promise<Fields> {
    const answer = this.begun.then(() => this.relay(request, signal));
    const settled = answer.catch(() => undefined);
    if (request.method === 'initialize') this.begun = settled;
    if (request.method !== 'subscriptions/listen') {
      this.due.add(settled);
      void settled.then(() => this.due.delete(settled));
    }
    return answer;
  }

  private hear(notification: JSONRPCNotification): void {
    const passed = this.begun.then(() => this.pass(notification));
    if (notification.method === 'notifications/initialized') this.begun = passed;
  }

  private async relay(request: JSONRPCRequest, signal: AbortSignal): Promise<Fields> {
    const { method, params } = request;
    const era = metaOf(params)[metaKeys.protocolVersion] === undefined ? 'legacy' : 'modern';
    if (method === 'initialize') this.first = request;
    const at = this.deps.clock.now();
    const subscription: Subscription = {
      request,
      isRepeated: false,
      tasks: [],
      end: () => {},
    };
    if (method === 'subscriptions/listen') this.subscriptions.set(request.id, subscription);
    try {
      for (;;) {
        // A gateway may have ended in this turn; its sockets tell so before the next one.
        await nextTurn();
        const way = await this.lines[era].way();
        try {
          const result = await this.ask(way, subscription, signal);
          const list =
            params?.['cursor'] === undefined && lists.find((each) => each.method === method);
          if (list)
            this.read.set(method, {
              era,
              params,
              digest: digestOf(result, list.key),
            });
          return result;
        } catch (error) {
          if (signal.aborted) throw error;
          const failure = failureIn(error);
          if (failure && isLostCall(method, failure))
            return this.lost(request, failure, { era, way, at });
          const mayRepeat =
            !subscription.isRepeated &&
            failure &&
            (await this.mayRepeat(era, method, way, failure));
          if (!mayRepeat) throw error;
          subscription.isRepeated = true;
          this.lines[era].drop(way);
        } finally {
          this.lines[era].endIfUnused(way);
        }
      }
    } catch (error) {
      throw inWords(error);
    } finally {
      this.subscriptions.delete(request.id);
    }
  }

  /** Returns the result of a call whose gateway has ended, in the words of a lost server (X4). */
  private lost(
    { params = {} }: JSONRPCRequest,
    { reason }: TransportFailure,
    { era, way, at }: { readonly era: Era; readonly way: Way; readonly at: number },
  ): Fields {
    const isModern = era === 'modern';
    const tool = asText(params['name']);
    const info = isModern
      ? metaOf(params)[metaKeys.clientInfo]
      : this.first?.params?.['clientInfo'];
    const conversation = isModern
      ? addressConversation(this.address.id)
      : sessionConversation(way.transport.sessionId ?? '');
    // A gateway that ends without a signal of death has recorded the call itself.
    if (!('isEnded' in reason))
      this.deps.onLost?.({
        tool,
        agent: asText(asFields(info)['name'] ?? ''),
        conversation,
        arguments: params['arguments'],
        at,
        took: this.deps.clock.now() - at,
      });
    const text = lostCallText(tool, gatewayEnded, nextGateway);
    return {
      ...(isModern && { resultType: 'complete' }),
      isError: true,
      content: [{ type: 'text', text }],
    };
  }

  private async ask(way: Way, subscription: Subscription, signal: AbortSignal): Promise<Result> {
    const { id, method, params } = subscription.request;
    const result = await way.peer.during(signal, id, (exchange) => {
      const ended = new Promise<Result>((resolve) => {
        subscription.end = () => {
          resolve({ resultType: 'complete', _meta: { [metaKeys.subscriptionId]: id } });
          exchange.stop('The tasks of the subscription are gone.');
        };
      });
      return Promise.race([exchange.send(method, params), ended]);
    });
    if (method === 'initialize')
      way.transport.setProtocolVersion(asText(result['protocolVersion']));
    return result;
  }

  private async mayRepeat(
    era: Era,
    method: string,
    way: Way,
    failure: TransportFailure,
  ): Promise<boolean> {
    const { reason } = failure;
    if (wasNotDelivered(failure)) return true;
    if (method === 'subscriptions/listen' && ['broken', 'closed'].includes(reason.kind))
      return true;
    // The gateway may have another token now or another program in its place, or the toolset has
    // gone.
    const isNowhere = era === 'modern' && reason.kind === 'status' && reason.status === 404;
    return isNowhere && (await this.lines.modern.hasMoved(way));
  }

  /** Only the legacy era has any. */
  private async pass(notification: JSONRPCNotification): Promise<void> {
    try {
      const way = await this.lines.legacy.way();
      await way.peer.send(notification);
    } catch (error) {
      this.deps.log.write('debug', messageOf(inWords(error)));
    }
  }

  /**
   * Repeats the client's `initialize` at another gateway. The client has had its answer already.
   */
  private async beginAgain({ peer, transport }: Way, times: number): Promise<void> {
    const { first } = this;
    if (!first || times === 0) return;
    const { params } = first;
    const result = await peer.during(undefined, `bridge-${times}`, (exchange) =>
      exchange.send('initialize', params),
    );
    transport.setProtocolVersion(asText(result['protocolVersion']));
    await peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    void this.tellChanges(peer);
  }

  /**
   * A repeated subscription ends without the same tasks, because the client may wait only for
   * these.
   */
  private hearGateway(notification: JSONRPCNotification): void {
    const { method, params = {} } = notification;
    if (mayGetLost.includes(method) && this.deps.output.writableLength > mostUnread) return;
    const meta = metaOf(params);
    if (meta[metaKeys.mayBeSame] === true) {
      const changed = topics.filter((topic) => method === `notifications/${topic}/list_changed`);
      void this.tellChanges(undefined, changed);
      return;
    }
    const id = meta[metaKeys.subscriptionId] as RequestId;
    const subscription = this.subscriptions.get(id);
    if (method !== 'notifications/subscriptions/acknowledged' || !subscription)
      return this.passOn(notification);
    const { taskIds = [] } = (params['notifications'] ?? {}) as { taskIds?: readonly unknown[] };
    const { tasks, isRepeated, request } = subscription;
    subscription.tasks = taskIds;
    subscription.isRepeated = false;
    if (!isRepeated) return this.passOn(notification);
    if (!tasks.every((task) => taskIds.includes(task))) return subscription.end();
    const wanted = (request.params?.['notifications'] ?? {}) as Fields;
    const listened = topics.filter((topic) => wanted[`${topic}ListChanged`] === true);
    void this.tellChanges(undefined, listened, { _meta: { [metaKeys.subscriptionId]: id } });
  }

  private passOn(notification: JSONRPCNotification): void {
    void this.client.send(notification);
  }

  /**
   * Reports the lists that differ from what the client has read, because agents pay for every
   * change (N6).
   */
  private async tellChanges(peer?: Peer, possible = topics, params?: Result): Promise<void> {
    for (const topic of possible) {
      const read = lists.filter((list) => list.topic === topic && this.read.has(list.method));
      const same = await Promise.all(
        read.map((list) => this.isSame(list, peer).catch(() => false)),
      );
      if (same.length > 0 && same.every(Boolean)) continue;
      void this.client.send({
        jsonrpc: '2.0',
        method: `notifications/${topic}/list_changed`,
        ...(params && { params }),
      });
    }
  }

  private async isSame(
    { method, key }: (typeof lists)[number],
    peer: Peer | undefined,
  ): Promise<boolean> {
    const read = this.read.get(method);
    if (read?.digest === undefined) return false;
    const asked = peer ?? (await this.lines[read.era].way()).peer;
    // The ids of the client are in the same book.
    const id = `bridge-list-${++this.asked}`;
    const result = await asked.during(undefined, id, (exchange) =>
      exchange.send(method, read.params),
    );
    return digestOf(result, key) === read.digest;
  }
}

/** A script may end its input behind its last request. Hanging calls end after this, in milliseconds. */
const lastAnswersMs = 10_000;

const nextGateway = ' The next call goes to another one, with new instances.';

function isLostCall(method: string, failure: TransportFailure): boolean {
  const hasEnded = ['broken', 'closed'].includes(failure.reason.kind);
  return method === 'tools/call' && hasEnded && !wasNotDelivered(failure);
}

function digestOf(result: Result, key: string): string | undefined {
  const json = JSON.stringify(result[key] ?? null);
  return result['nextCursor'] === undefined
    ? createHash('sha256').update(json).digest('base64url')
    : undefined;
}

function failureIn(error: unknown): TransportFailure | undefined {
  return error instanceof RpcFailure && error.data instanceof TransportFailure
    ? error.data
    : undefined;
}

/**
 * Returns the error for the client. A failure of our transport is given in words only, in the
 * gateway's own if it refused.
 */
function inWords(error: unknown): RpcFailure {
  if (error instanceof RpcFailure) {
    const { reason } = failureIn(error) ?? {};
    const said = reason?.kind === 'status' && reason.body;
    return reason ? new RpcFailure(error.code, said || error.message) : error;
  }
  return new RpcFailure(errorCodes.server, `The toolsets cannot be reached: ${messageOf(error)}`);
}

/** The gateway takes this much in one body. */
const longestLine = 16 << 20;

const noAnswer = {
  code: errorCodes.internal,
  message: 'The client answered with neither a result nor an error.',
};

class ClientPipe {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(
    private readonly input: Readable,
    private readonly output: Writable,
  ) {}

  async read(signal: AbortSignal): Promise<void> {
    const onExcess = (): 'stop' => {
      this.input.destroy();
      return 'stop';
    };
    const lines = new LineSplitter({
      limit: longestLine,
      onLine: (line) => this.hear(line),
      onExcess,
    });
    this.input.on('data', (chunk: Buffer) => lines.push(chunk));
    const ended = new Promise<void>((resolve) => {
      for (const event of ['end', 'close', 'error']) this.input.once(event, () => resolve());
      this.output.once('error', () => resolve());
    });
    await orAborted(ended, signal);
    this.input.pause();
    lines.end();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.output.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  private hear(line: string): void {
    if (line.trim() === '') return;
    const payload = parsePayload(line);
    if (payload.kind === 'unreadable') {
      this.output.write(`${errorMessage(null, payload.error)}\n`);
      return;
    }
    for (const message of messagesOf(payload)) {
      if (message.kind === 'invalid')
        this.output.write(`${errorMessage(message.id, message.error)}\n`);
      const isEmpty = message.kind === 'response' && !message.result && !message.error;
      const read = wireMessage(isEmpty ? { ...message, error: noAnswer } : message);
      if (read) this.onmessage?.(read);
    }
  }
}
