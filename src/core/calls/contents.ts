/**
 * The inputs and outputs of the last calls, in memory. Only the log is redacted: a view redacts the rest. The
 * values together have about `mostSize` characters at most, and the logs about `mostLog`.
 */
import { isObject } from '../base/isObject.js';
import type { Progress } from '../protocol/request.js';
import type { CallFact } from './fact.js';

type KeptCall = ReturnType<typeof keptOf>;

export type CallContent = NonNullable<ReturnType<CallContents['get']>>;

const none: readonly never[] = [];

/** A request while it runs, and after it until its content is kept. One object of one layout, because each call pays for it (P11). */
export class Recording {
  fact: CallFact | undefined = undefined;
  id = '';
  instance: string | undefined = undefined;
  published: string | undefined = undefined;
  original: string | undefined = undefined;
  sent: unknown = undefined;
  outcome: unknown = undefined;
  received: unknown = undefined;
  progress: readonly Progress[] = none;

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
}

const mostSize = 50 << 20;
const mostProgress = 100;

/** Calls of about the same age go together: removing single ones would cost every call. */
interface Generation {
  readonly calls: Recording[];
  readonly written: Buffer[];
  size: number;
}

const generations = 16;

/** In characters. Smaller contents are written out together, because bytes lie outside the collector's heap (P11). */
const smallSize = 4_000;
const writtenTogether = 16;

export class CallContents {
  private kept: Generation[] = [];
  /** The newest small ones. The first half is written at a time, because the agent's result comes shortly after the end. */
  private small: Recording[] = [];
  private size = 0;
  readonly logs = new RecentLogs();

  constructor(private readonly most = mostSize) {}

  get(fact: CallFact) {
    const found = this.find(fact.id);
    if (!found) return undefined;
    const { given, sent, outcome, received, progress = none } = found;
    return { given, sent, outcome, received, progress, log: this.logs.during(fact) };
  }

  lastFact(id: string): CallFact | undefined {
    return this.recordings().find((recording) => recording.id === id)?.fact;
  }

  /** Keeps an ended call. The oldest calls make room. @param size in characters; infinite for a value that is too large */
  keep(recording: Recording, size: number): void {
    if (size > this.most) return;
    let newest = this.kept.at(-1);
    if (!newest || newest.size >= this.most / generations)
      this.kept.push((newest = { calls: [], written: [], size: 0 }));
    newest.size += size;
    this.size += size;
    if (size > smallSize) newest.calls.push(recording);
    else if (this.small.push(recording) >= 2 * writtenTogether) {
      newest.written.push(Buffer.from(JSON.stringify(this.small.splice(0, writtenTogether).map(keptOf))));
    }
    while (this.size > this.most) this.size -= this.kept.shift()?.size ?? 0;
  }

  clear(): void {
    this.kept = [];
    this.small = [];
    this.size = 0;
    this.logs.begin();
  }

  private find(id: string): KeptCall | undefined {
    const isIt = (call: { readonly id: string }): boolean => call.id === id;
    const recording = this.recordings().find(isIt);
    if (recording) return keptOf(recording);
    const written = this.kept.flatMap((generation) => generation.written).filter((bytes) => bytes.includes(id));
    return written.flatMap((bytes) => JSON.parse(bytes.toString()) as KeptCall[]).find(isIt);
  }

  private recordings(): readonly Recording[] {
    return [...this.small, ...this.kept.flatMap(({ calls }) => calls)];
  }
}

/** As the agent gave it and got it, and as the server got it and gave it. A part with the same value on both sides is left out. */
function keptOf({ id, given, sent, outcome, received, progress }: Recording) {
  return {
    id,
    given,
    sent: sent === given ? undefined : sent,
    outcome,
    received: received === outcome ? undefined : received,
    progress: progress.length > 0 ? progress : undefined,
  };
}

interface LogLine {
  readonly server: string;
  readonly at: number;
  readonly line: string;
}

const mostLog = 8 << 20;
/** The memory of a line beside its text, in bytes. */
const ownSizeOfLine = 100;
const mostLines = 200;
/** The text of a program may arrive this much later than its answer, in milliseconds. */
const logLasts = 200;

/** The last lines of the logs of all servers. The older half goes at once. */
class RecentLogs {
  private older: LogLine[] = [];
  private newer: LogLine[] = [];
  private size = 0;

  add(server: string, at: number, line: string): void {
    this.newer.push({ server, at, line });
    this.size += line.length + ownSizeOfLine;
    if (this.size >= mostLog / 2) this.begin(this.newer);
  }

  during({ toolset, at, took }: CallFact): string[] {
    const last = at + took + logLasts;
    const lines = [...this.older, ...this.newer].filter((one) => one.server === toolset);
    return lines.flatMap((one) => (one.at >= at && one.at <= last ? [one.line] : [])).slice(0, mostLines);
  }

  begin(older: LogLine[] = []): void {
    this.older = older;
    this.newer = [];
    this.size = 0;
  }
}

/** A larger value is not measured to its end. */
const mostParts = 10_000;

/** Counts the characters of texts, and eight for each other part. `isWhole`: there are at most `mostParts` parts. */
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
