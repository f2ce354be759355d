/**
 * A cassette holds the messages between clients and a server, as JSON Lines. The first line names
 * the format and the command. Each other line has a message, its side and its session, because many
 * clients start a server more than once.
 */
import { asFields, isObject, without, type Fields } from '../base/isObject.js';
import type { Redactor } from '../base/log.js';
import { canonicalJson } from '../base/canonicalJson.js';
import { mask } from '../base/secrets.js';
import { isMadeOf } from '../base/partsInOrder.js';
import { errorCodes } from '../protocol/errors.js';
import { storedJson } from '../protocol/json.js';

export type Side = 'client' | 'server';

export type Message = Fields;

export interface CassetteEntry {
  readonly session: string;
  readonly from: Side;
  readonly message: Message;
}

const format = { cassette: 'mcp-toolsets', version: 1 } as const;

export function headLine(command: readonly string[], redactor: Redactor): string {
  return JSON.stringify({ ...format, command: redacted(command, redactor) });
}

export function entryLines(
  session: string,
  from: Side,
  text: string,
  redactor: Redactor,
): string[] {
  return messagesIn(text).map((message) =>
    JSON.stringify({
      session,
      from,
      message: redacted(message, redactor),
    }),
  );
}

/** A stray print of the server has no message, and a batch of 2025-03-26 several. */
export function messagesIn(text: string): Message[] {
  const value = storedJson(text);
  return (Array.isArray(value) ? (value as unknown[]) : [value]).filter(isObject);
}

/** Redacts each text, and then the whole, because names of keys show secrets too. */
function redacted(value: object, redactor: Redactor): unknown {
  const clean = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'string' ? redactor.redact(inner, inner.length) : inner,
  );
  return storedJson(redactor.redact(clean, clean.length)) ?? JSON.parse(clean);
}

/** Throws with a phrase about the wrong line. */
export function parseCassette(text: string): CassetteEntry[] {
  const [head = '', ...lines] = text.split('\n');
  const first = storedJson(head);
  if (!isObject(first) || first['cassette'] !== format.cassette)
    throw new Error('line 1 does not name a cassette');
  if (first['version'] !== format.version) throw new Error('its version is not known here');
  return lines.flatMap((each, index): CassetteEntry[] => {
    if (each.trim() === '') return [];
    const entry = storedJson(each);
    const { session, from, message } = asFields(entry);
    if (
      typeof session !== 'string' ||
      (from !== 'client' && from !== 'server') ||
      !isObject(message)
    ) {
      throw new Error(`line ${index + 2} is no message of a cassette`);
    }
    return [{ session, from, message }];
  });
}

interface Recorded {
  readonly method: string;
  readonly params: Message;
  /** The messages of the server until the next request, the answer among them. */
  readonly sent: Sent[];
  /** False if the client or the server left first, as with a subscription. */
  isAnswered: boolean;
  isUsed: boolean;
  /** The id that a client gives it now. */
  id: unknown;
}

interface Sent {
  readonly message: Message;
  readonly subscription?: Recorded | undefined;
}

interface Session {
  readonly open: Map<unknown, Recorded>;
  readonly subscriptions: Map<unknown, Recorded>;
  last: Recorded | undefined;
}

const subscribing = 'subscriptions/listen';
const subscriptionKey = 'io.modelcontextprotocol/subscriptionId';

/** These differ from client to client, and a server answers them in one way. */
const ofAnyParams: readonly unknown[] = ['initialize', 'server/discover'];

/**
 * Answers a client from a cassette. Equal requests get the recorded answers in order, and the last
 * one again after that. Messages of the server before an answer come before it again:
 * notifications, and requests, which wait for the client's answer. `_meta` does not count, so a
 * client of either era finds the answers of both.
 */
export class Player {
  private readonly requests: Recorded[] = [];
  private readonly open = new Map<unknown, (answer: Message) => void>();
  private asked = 0;

  constructor(
    entries: readonly CassetteEntry[],
    private readonly send: (message: Message) => void,
  ) {
    const sessions = new Map<string, Session>();
    for (const { session: name, from, message } of entries) {
      const session: Session = sessions.get(name) ?? {
        open: new Map(),
        subscriptions: new Map(),
        last: undefined,
      };
      sessions.set(name, session);
      if (from === 'client') this.addRequest(session, message);
      else addAnswer(session, message);
    }
  }

  private addRequest(session: Session, message: Message): void {
    const { id, method } = message;
    if (typeof method !== 'string' || id === undefined) return;
    const params = paramsOf(message);
    const asked: Recorded = {
      method,
      params,
      sent: [],
      isAnswered: false,
      isUsed: false,
      id: undefined,
    };
    // A subscription stays open while others are answered.
    if (method === subscribing) session.subscriptions.set(id, asked);
    session.last = method === subscribing ? undefined : asked;
    session.open.set(id, asked);
    this.requests.push(asked);
  }

  async take(message: Message): Promise<void> {
    const { id, method } = message;
    if (typeof method !== 'string') {
      this.open.get(id)?.(message);
      this.open.delete(id);
    } else if (id !== undefined) await this.answer(id, method, paramsOf(message));
  }

  private async answer(id: unknown, method: string, params: Message): Promise<void> {
    const equal = this.requests.filter((one) => isSameRequest(one, method, params));
    const answered = equal.filter(({ isAnswered }) => isAnswered || method === subscribing);
    const found = answered.find(({ isUsed }) => !isUsed) ?? answered.at(-1);
    if (!found) {
      if (method === 'ping')
        return this.send({
          jsonrpc: '2.0',
          id,
          result: {},
        });
      // A client of both eras tries the other one then.
      const isKnown = this.requests.some((one) => one.method === method);
      const code = isKnown ? errorCodes.invalidParams : errorCodes.methodNotFound;
      const unanswered = `The recorded ${shown(method, params)} got no answer: it was cancelled, or the server ended.`;
      const error = { code, message: equal.length > 0 ? unanswered : this.missing(method, params) };
      return this.send({
        jsonrpc: '2.0',
        id,
        error,
      });
    }
    found.isUsed = true;
    found.id = id;
    for (const each of found.sent) await this.repeat(each, id, tokenOf(params));
  }

  private async repeat(
    { message, subscription }: Sent,
    answered: unknown,
    token: unknown,
  ): Promise<void> {
    if (message['method'] === undefined) return this.send({ ...message, id: answered });
    const params = paramsOf(message);
    if (subscription) {
      const _meta = { ...(params['_meta'] as Message), [subscriptionKey]: subscription.id };
      // Without an id, it has no listener now.
      return subscription.id === undefined
        ? undefined
        : this.send({ ...message, params: { ...params, _meta } });
    }
    const isProgress = params['progressToken'] !== undefined;
    // This progress has no listener now.
    if (isProgress && token === undefined) return;
    if (isProgress) return this.send({ ...message, params: { ...params, progressToken: token } });
    if (message['id'] === undefined) return this.send(message);
    const id = `replay-${++this.asked}`;
    const answer = new Promise<Message>((resolve) => this.open.set(id, resolve));
    this.send({ ...message, id });
    await answer;
  }

  private missing(method: string, params: Message): string {
    const nearest = this.requests
      .filter((one) => one.method === method)
      .sort((a, b) => likeness(b.params, params) - likeness(a.params, params))[0];
    const wanted = `The cassette has no answer to ${shown(method, params)}.`;
    if (nearest)
      return `${wanted} The nearest recorded request is ${shown(method, nearest.params)}.`;
    const methods = [...new Set(this.requests.map((one) => one.method))].join(', ');
    return `${wanted} It has only ${methods === '' ? 'nothing' : methods}.`;
  }
}

function addAnswer(session: Session, message: Message): void {
  const { id, method } = message;
  if (method === undefined) {
    const request = session.open.get(id);
    if (!request) return;
    request.sent.push({ message });
    request.isAnswered = true;
    session.open.delete(id);
    return;
  }
  const params = paramsOf(message);
  const subscription =
    isObject(params['_meta']) && session.subscriptions.get(params['_meta'][subscriptionKey]);
  const named = params['progressToken'];
  const open = [...session.open.values()].filter((one) => one.method !== subscribing);
  const owner =
    open.find((one) => named !== undefined && tokenOf(one.params) === named) ?? open.at(-1);
  const sent = { message, subscription: subscription || undefined };
  (owner ?? session.last ?? sent.subscription)?.sent.push(sent);
}

function paramsOf({ params }: Message): Message {
  return asFields(params);
}

function isSameRequest(one: Recorded, method: string, params: Message): boolean {
  if (one.method !== method) return false;
  return (
    ofAnyParams.includes(method) ||
    isRecorded(without(one.params, '_meta'), without(params, '_meta'))
  );
}

/** True if a value is the recorded one, whose secrets are masked. */
function isRecorded(recorded: unknown, given: unknown): boolean {
  if (recorded === mask) return given !== undefined;
  if (typeof recorded === 'string')
    return typeof given === 'string' && isMadeOf(given, recorded.split(mask));
  if (typeof recorded !== 'object' || recorded === null) return recorded === given;
  if (
    typeof given !== 'object' ||
    given === null ||
    Array.isArray(recorded) !== Array.isArray(given)
  )
    return false;
  const entries = Object.entries(recorded);
  const others = new Map<string, unknown>(Object.entries(given));
  if (entries.length !== others.size) return false;
  return entries.every(([key, one]) => others.has(key) && isRecorded(one, others.get(key)));
}

function tokenOf({ _meta }: Message): unknown {
  return asFields(_meta)['progressToken'];
}

function likeness(one: Message, other: Message): number {
  const equal = (a: Message, b: Message) =>
    Object.keys(a).filter(
      (key) => key !== '_meta' && canonicalJson(a[key]) === canonicalJson(b[key]),
    ).length;
  const a = one['arguments'];
  const b = other['arguments'];
  return equal(one, other) * 10 + (isObject(a) && isObject(b) ? equal(a, b) : 0);
}

const longestShown = 200;

function shown(method: string, params: Message): string {
  const text = JSON.stringify(without(params, '_meta'));
  return `${method} ${text.length > longestShown ? `${text.slice(0, longestShown)}…` : text}`;
}
