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
  readonly sent: unknown;
  /** The result or the error, as the server gave it. */
  readonly outcome: unknown;
  /** The result as the agent got it. */
  readonly received: unknown;
  readonly progress: readonly Progress[];
  /** The lines of the server's log during the call, redacted. */
  readonly log: readonly string[];
}

const none: readonly never[] = [];

/** What a call hears of the log of its server. Apart from its contents, so that hearing keeps none of them in memory. */
class HeardLog {
  lines: readonly string[] = none;
  endedAt: number | undefined = undefined;

  /** The text of a program may arrive later than its answer. */
  hear(line: string, at: number): void {
    if (!this.isOver(at) && this.lines.length < mostLines) this.lines = [...this.lines, line];
  }

  isOver(at: number): boolean {
    return this.endedAt !== undefined && at - this.endedAt > logLasts;
  }
}

/** A request while it runs, and later what is kept of it. One object of one layout, because each call pays for it (P11). */
export class Recording implements CallContent {
  fact: CallFact | undefined = undefined;
  /** The id of the fact. */
  id = '';
  instance: string | undefined = undefined;
  published: string | undefined = undefined;
  original: string | undefined = undefined;
  sent: unknown = undefined;
  outcome: unknown = undefined;
  received: unknown = undefined;
  progress: readonly Progress[] = none;
  readonly heard = new HeardLog();

  constructor(
    readonly given: unknown,
    readonly at: number,
  ) {}

  onFound({ published, original }: { readonly published: string; readonly original: string }): void {
    this.published = published;
    this.original = original;
  }

  onSend(instance: string, sent: unknown): void {
    this.instance = instance;
    this.sent = sent;
  }

  onProgress(one: Progress): void {
    if (this.progress.length < mostProgress) this.progress = [...this.progress, one];
  }

  get log(): readonly string[] {
    return this.heard.lines;
  }
}

const mostSize = 50 << 20;
const mostLines = 200;
const mostProgress = 100;
/** In milliseconds. */
const logLasts = 200;

/** Calls of one server that hear its log, and some that are over. */
interface Listeners {
  all: HeardLog[];
  /** At this length, those that are over go. */
  most: number;
}

const fewestListeners = 64;

/** Calls of about the same age, which go together: removing single ones would cost every call. */
interface Generation {
  readonly calls: Recording[];
  size: number;
}

const generations = 16;

export class CallContents {
  /** Newest last. */
  private kept: Generation[] = [];
  private readonly listening = new Map<string, Listeners>();
  private size = 0;

  constructor(private readonly most = mostSize) {}

  get(id: string): Recording | undefined {
    return this.kept.flatMap(({ calls }) => calls).find((recording) => recording.id === id);
  }

  listen(server: string, { heard, at }: Pick<Recording, 'heard' | 'at'>): void {
    const listeners = this.listening.get(server);
    if (!listeners) this.listening.set(server, { all: [heard], most: fewestListeners });
    else if (listeners.all.push(heard) > listeners.most) {
      listeners.all = listeners.all.filter((one) => !one.isOver(at));
      listeners.most = Math.max(fewestListeners, 2 * listeners.all.length);
    }
  }

  /** Keeps an ended call. The oldest calls make room. @param size in characters; infinite for a value that is too large */
  keep(recording: Recording, size: number): void {
    if (size > this.most) return;
    let newest = this.kept.at(-1);
    if (!newest || newest.size >= this.most / generations) this.kept.push((newest = { calls: [], size: 0 }));
    newest.calls.push(recording);
    newest.size += size;
    this.size += size;
    while (this.size > this.most) this.size -= this.kept.shift()?.size ?? 0;
  }

  hear(server: string, at: number, line: string): void {
    for (const heard of this.listening.get(server)?.all ?? []) heard.hear(line, at);
  }

  clear(): void {
    this.kept = [];
    this.size = 0;
  }
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
      for (const key of Object.keys(one)) {
        size += key.length;
        rest.push(one[key]);
      }
    } else if (one !== undefined) size += 8;
  }
  return { size, isWhole: rest.length === 0 };
}
