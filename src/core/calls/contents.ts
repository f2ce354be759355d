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

export class CallContents {
  private readonly kept = new Map<string, RecordedCall & { readonly size: number }>();
  private readonly listening = new Map<string, Listener[]>();
  private size = 0;

  constructor(private readonly most = mostSize) {}

  get(id: string): RecordedCall | undefined {
    return this.kept.get(id);
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
    this.listening.set(server, [...this.listenersOf(server, at), listener]);
    return { content, end: (endedAt) => (listener.endedAt = endedAt) };
  }

  /** Keeps an ended call. The oldest calls make room. @param size in characters; infinite for a value that is too large */
  keep(fact: CallFact, content: CallContent, size: number): void {
    if (size > this.most) return;
    this.kept.set(fact.id, { fact, content, size });
    this.size += size;
    for (const [oldest, { size: freed }] of this.kept) {
      if (this.size <= this.most) return;
      this.kept.delete(oldest);
      this.size -= freed;
    }
  }

  /** Has to be called with each line of a server's log. */
  hear(server: string, at: number, line: string): void {
    if (!this.listening.has(server)) return;
    const listeners = this.listenersOf(server, at);
    if (listeners.length > 0) this.listening.set(server, listeners);
    else this.listening.delete(server);
    for (const { content } of listeners) if (content.log.length < mostLines) content.log.push(line);
  }

  private listenersOf(server: string, at: number): Listener[] {
    const known = this.listening.get(server) ?? [];
    return known.filter(({ endedAt }) => endedAt === undefined || at - endedAt <= logLasts);
  }

  clear(): void {
    this.kept.clear();
    this.size = 0;
  }
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
