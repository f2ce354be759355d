/**
 * What went in and out of the last calls of this program. It stays in memory, and nothing here is redacted yet: who shows it,
 * redacts it.
 *
 * Invariant: the values together have about `mostSize` characters at most.
 */
import { isObject } from '../base/isObject.js';
import type { Progress } from '../protocol/request.js';
import type { CallFact } from './fact.js';

export interface CallContent {
  /** As the agent gave them. */
  readonly given: unknown;
  /** As the server got them, if the call reached it. */
  sent: unknown;
  /** The result or the error, as the server gave it. */
  outcome: unknown;
  /** The result as the agent got it. */
  received: unknown;
  readonly progress: Progress[];
  /** The lines of the server's log during the call, redacted. */
  readonly log: string[];
}

interface RecordedCall {
  readonly fact: CallFact;
  readonly content: CallContent;
}

const mostSize = 50 << 20;
const mostLines = 200;
const mostProgress = 100;
/** The text of a program may arrive later than its answer. In milliseconds. */
const logLasts = 200;

interface Listener {
  readonly content: CallContent;
  endedAt: number | undefined;
}

/** Calls of one server that hear its log, and some that are over. */
interface Listeners {
  all: Listener[];
  /** At this length, those that are over go. */
  most: number;
}

const fewestListeners = 64;

/** Calls of about the same age, which go together: removing single ones would cost every call. */
interface Generation {
  readonly calls: Map<string, RecordedCall>;
  size: number;
}

const generations = 16;

export class CallContents {
  /** Newest last. */
  private kept: Generation[] = [];
  private readonly listening = new Map<string, Listeners>();
  private size = 0;

  constructor(private readonly most = mostSize) {}

  get(id: string): RecordedCall | undefined {
    return this.kept.find(({ calls }) => calls.has(id))?.calls.get(id);
  }

  begin(server: string, at: number, given: unknown): { readonly content: CallContent; end(at: number): void } {
    const content: CallContent = {
      given,
      sent: undefined,
      outcome: undefined,
      received: undefined,
      progress: [],
      log: [],
    };
    const listener: Listener = { content, endedAt: undefined };
    const listeners = this.listening.get(server);
    if (!listeners) this.listening.set(server, { all: [listener], most: fewestListeners });
    else if (listeners.all.push(listener) > listeners.most) {
      listeners.all = listeners.all.filter((one) => isHearing(one, at));
      listeners.most = Math.max(fewestListeners, 2 * listeners.all.length);
    }
    return { content, end: (endedAt) => (listener.endedAt = endedAt) };
  }

  /** Keeps an ended call. The oldest calls make room. @param size in characters; infinite for a value that is too large */
  keep(fact: CallFact, content: CallContent, size: number): void {
    if (size > this.most) return;
    let newest = this.kept.at(-1);
    if (!newest || newest.size >= this.most / generations) this.kept.push((newest = { calls: new Map(), size: 0 }));
    newest.calls.set(fact.id, { fact, content });
    newest.size += size;
    this.size += size;
    while (this.size > this.most) this.size -= this.kept.shift()?.size ?? 0;
  }

  /** Has to be called with each line of a server's log. */
  hear(server: string, at: number, line: string): void {
    for (const listener of this.listening.get(server)?.all ?? []) {
      const { log } = listener.content;
      if (isHearing(listener, at) && log.length < mostLines) log.push(line);
    }
  }

  clear(): void {
    this.kept = [];
    this.size = 0;
  }
}

function isHearing({ endedAt }: Listener, at: number): boolean {
  return endedAt === undefined || at - endedAt <= logLasts;
}

export function noteProgress({ progress }: CallContent, one: Progress): void {
  if (progress.length < mostProgress) progress.push(one);
}

/** A larger value is not measured to its end. */
const mostParts = 10_000;

/**
 * Returns the number of characters in the texts of a value, and eight for each other part.
 * `isWhole` is false if the value has more than `mostParts` parts, and the rest was not counted.
 */
export function approximateSize(value: unknown): { readonly size: number; readonly isWhole: boolean } {
  let [size, parts] = [0, 0];
  const rest: unknown[] = [value];
  while (rest.length > 0 && parts++ < mostParts) {
    const one = rest.pop();
    if (typeof one === 'string') size += one.length;
    else if (Array.isArray(one)) for (const item of one) rest.push(item);
    else if (isObject(one)) {
      for (const [key, item] of Object.entries(one)) {
        size += key.length;
        rest.push(item);
      }
    } else if (one !== undefined) size += 8;
  }
  return { size, isWhole: rest.length === 0 };
}
