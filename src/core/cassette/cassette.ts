/**
 * A cassette holds what passed between clients and a server, as JSON Lines. The first line names the format and the
 * command. Each other line has a message, its side and its session, because many clients start a server more than once.
 */
import { isObject } from '../base/isObject.js';
import type { Redactor } from '../base/log.js';
import { canonicalJson } from '../base/canonicalJson.js';
import { errorCodes } from '../protocol/errors.js';

export type Side = 'client' | 'server';

export interface CassetteEntry {
  readonly session: string;
  readonly from: Side;
  readonly message: Message;
}

export type Message = Readonly<Record<string, unknown>>;

const format = { cassette: 'mcp-toolsets', version: 1 } as const;

export function headLine(command: readonly string[], redactor: Redactor): string {
  return line({ ...format, command }, redactor);
}

/** Returns undefined for a line that is no JSON object, such as a stray print of the server. */
export function entryLine(session: string, from: Side, text: string, redactor: Redactor): string | undefined {
  const message = parsed(text);
  return isObject(message) ? line({ session, from, message }, redactor) : undefined;
}

/** Redacts each text, and then the whole, because names of keys show secrets too. */
function line(value: object, redactor: Redactor): string {
  const clean = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'string' ? redactor.redact(inner, inner.length) : inner,
  );
  const whole = redactor.redact(clean, clean.length);
  return isObject(parsed(whole)) ? whole : clean;
}

/** Throws with a phrase about the line that is no cassette. */
export function parseCassette(text: string): CassetteEntry[] {
  const [head = '', ...lines] = text.split('\n');
  checkHead(head);
  return lines.flatMap((each, index): CassetteEntry[] => {
    if (each.trim() === '') return [];
    const entry = parsed(each);
    const { session, from, message } = isObject(entry) ? entry : {};
    if (typeof session !== 'string' || (from !== 'client' && from !== 'server') || !isObject(message)) {
      throw new Error(`line ${index + 2} is no message of a cassette`);
    }
    return [{ session, from, message }];
  });
}

export function checkHead(head: string): void {
  const first = parsed(head);
  if (!isObject(first) || first['cassette'] !== format.cassette) throw new Error('line 1 does not name a cassette');
  if (first['version'] !== format.version) throw new Error('its version is not known here');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Recorded {
  readonly method: string;
  readonly params: Message;
  readonly key: string;
  /** The messages of the server until the answer, and after it until the next request. */
  readonly before: Message[];
  readonly after: Message[];
  /** Absent if the client left first, as with a subscription. */
  answer: Message | undefined;
  isUsed: boolean;
}

interface Session {
  readonly open: Map<unknown, Recorded>;
  last: Recorded | undefined;
}

/** These differ from client to client, and a server answers them in one way. */
const ofAnyParams: readonly unknown[] = ['initialize', 'server/discover'];

/**
 * Answers a client from a cassette. Equal requests get the recorded answers in order, and the last one again after that. What
 * the server sent before an answer comes before it again: notifications, and requests, which wait for the client's answer.
 *
 * `_meta` does not count, so a client of either era finds the answers of both.
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
      const { id, method } = message;
      const session: Session = sessions.get(name) ?? { open: new Map(), last: undefined };
      sessions.set(name, session);
      if (from === 'client') {
        if (typeof method !== 'string' || id === undefined) continue;
        const params = paramsOf(message);
        const key = keyOf(method, params);
        const asked: Recorded = { method, params, key, before: [], after: [], answer: undefined, isUsed: false };
        session.last = asked;
        session.open.set(id, asked);
        this.requests.push(asked);
      } else if (method === undefined) {
        const request = session.open.get(id);
        if (request) request.answer ??= message;
        session.open.delete(id);
      } else {
        const named = paramsOf(message)['progressToken'];
        const open = [...session.open.values()];
        const owner = open.find(({ params }) => named !== undefined && tokenOf(params) === named) ?? open.at(-1);
        if (owner) owner.before.push(message);
        else session.last?.after.push(message);
      }
    }
  }

  async take(message: Message): Promise<void> {
    const { id, method } = message;
    if (typeof method !== 'string') {
      this.open.get(id)?.(message);
      this.open.delete(id);
    } else if (id !== undefined) await this.answer(id, method, paramsOf(message));
  }

  private async answer(id: unknown, method: string, params: Message): Promise<void> {
    const key = keyOf(method, params);
    const equal = this.requests.filter((one) => one.key === key);
    const found = equal.find(({ isUsed }) => !isUsed) ?? equal.at(-1);
    if (!found) {
      if (method === 'ping') return this.send({ jsonrpc: '2.0', id, result: {} });
      // A client of both eras tries the other one then.
      const isKnown = this.requests.some((one) => one.method === method);
      const code = isKnown ? errorCodes.invalidParams : errorCodes.methodNotFound;
      const error = { code, message: this.missing(method, params) };
      return this.send({ jsonrpc: '2.0', id, error });
    }
    found.isUsed = true;
    for (const each of found.before) await this.repeat(each, tokenOf(params));
    if (found.answer) this.send({ ...found.answer, id });
    for (const each of found.after) await this.repeat(each, tokenOf(params));
  }

  private async repeat(message: Message, token: unknown): Promise<void> {
    const params = paramsOf(message);
    const isProgress = params['progressToken'] !== undefined;
    // Nobody waits for this progress now.
    if (isProgress && token === undefined) return;
    if (isProgress) return this.send({ ...message, params: { ...params, progressToken: token } });
    if (message['id'] === undefined) return this.send(message);
    const id = `replay-${++this.asked}`;
    const answered = new Promise<Message>((resolve) => this.open.set(id, resolve));
    this.send({ ...message, id });
    await answered;
  }

  private missing(method: string, params: Message): string {
    const nearest = this.requests
      .filter((one) => one.method === method)
      .sort((a, b) => likeness(b.params, params) - likeness(a.params, params))[0];
    const wanted = `The cassette has no answer to ${shown(method, params)}.`;
    if (nearest) return `${wanted} The nearest recorded request is ${shown(method, nearest.params)}.`;
    const methods = [...new Set(this.requests.map((one) => one.method))].join(', ');
    return `${wanted} It has only ${methods === '' ? 'nothing' : methods}.`;
  }
}

function paramsOf({ params }: Message): Message {
  return isObject(params) ? params : {};
}

function keyOf(method: string, { _meta, ...params }: Message): string {
  return canonicalJson([method, ofAnyParams.includes(method) ? {} : params]);
}

function tokenOf({ _meta }: Message): unknown {
  return isObject(_meta) ? _meta['progressToken'] : undefined;
}

function likeness(one: Message, other: Message): number {
  const equal = (a: Message, b: Message): number =>
    Object.keys(a).filter((key) => key !== '_meta' && canonicalJson(a[key]) === canonicalJson(b[key])).length;
  const [a, b] = [one['arguments'], other['arguments']];
  return equal(one, other) * 10 + (isObject(a) && isObject(b) ? equal(a, b) : 0);
}

const longestShown = 200;

function shown(method: string, { _meta, ...params }: Message): string {
  const text = JSON.stringify(params);
  return `${method} ${text.length > longestShown ? `${text.slice(0, longestShown)}…` : text}`;
}
