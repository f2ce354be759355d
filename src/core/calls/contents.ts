/**
 * The inputs and outputs of the last calls, in memory. Only the log is redacted: a view redacts the rest. The
 * values together have about `mostSize` characters at most, and the logs about `mostLog`.
 */
import { isObject } from '../base/isObject.js';
import type { OtherOutcome, Progress, ToolOutcome, ToolsetCall, ToolsetRequest } from '../protocol/request.js';
import type { CallFact } from './fact.js';

type KeptCall = ReturnType<typeof keptOf>;

export type CallContent = NonNullable<ReturnType<CallContents['get']>>;

const none: readonly never[] = [];
const notEnded = { kind: 'cancelled' } as const;

/** A request while it runs, and until its content is kept. One object of one layout, because each call pays for it (P11). */
export class Recording {
  id = '';
  took = 0;
  instance: string | undefined = undefined;
  published: string | undefined = undefined;
  original: string | undefined = undefined;
  sent: unknown = undefined;
  outcome: ToolOutcome | OtherOutcome = notEnded;
  /** The size of the kept content in characters, or infinity for a value that is too large. */
  size = Infinity;
  received: unknown = undefined;
  /** The client's result as it was written. */
  text: string | undefined = undefined;
  progress: readonly Progress[] = none;

  constructor(
    readonly request: ToolsetCall | ToolsetRequest,
    readonly at: number,
  ) {}

  get given(): unknown {
    return 'tool' in this.request ? this.request.arguments : this.request.params;
  }

  get result(): unknown {
    return this.outcome.kind === 'result' ? this.outcome.result : undefined;
  }

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

  onWritten(received: unknown, text?: unknown): void {
    this.received = received;
    if (typeof text === 'string') this.text = text;
  }

  end(id: string, outcome: ToolOutcome | OtherOutcome, at: number): void {
    this.id = id;
    this.outcome = outcome;
    this.took = at - this.at;
  }
}

const mostSize = 50 << 20;
const mostProgress = 100;

/** Calls of about the same age go together: removing single ones would cost every call. */
const generations = 16;

/** In characters. Smaller contents are written out together, because bytes lie outside the collector's heap (P11). */
const smallSize = 4_000;

export class CallContents {
  /** Bytes hold a list of calls as JSON. */
  private kept: { readonly calls: (KeptCall | Buffer)[]; size: number }[] = [];
  private size = 0;
  readonly logs = new RecentLogs();

  constructor(private readonly most = mostSize) {}

  get(fact: CallFact) {
    const found = this.find(fact.id);
    if (!found) return undefined;
    const { given, sent, outcome, received, progress = none } = found;
    return { given, sent, outcome, received, progress, log: this.logs.during(fact) };
  }

  /** Keeps ended calls. The oldest ones make room. */
  keep(calls: readonly Recording[]): void {
    const small: string[] = [];
    let newest = this.kept.at(-1);
    for (const call of calls) {
      const { size } = call;
      if (size > this.most) continue;
      if (!newest || newest.size >= this.most / generations) this.kept.push((newest = { calls: [], size: 0 }));
      newest.size += size;
      this.size += size;
      if (size > smallSize) newest.calls.push(keptOf(call));
      else small.push(jsonOf(call));
    }
    if (small.length > 0) newest?.calls.push(Buffer.from(`[${small.join()}]`));
    while (this.size > this.most) this.size -= this.kept.shift()?.size ?? 0;
  }

  clear(): void {
    this.kept = [];
    this.size = 0;
    this.logs.begin();
  }

  private find(id: string): KeptCall | undefined {
    for (const one of this.kept.flatMap(({ calls }) => calls)) {
      const calls = !Buffer.isBuffer(one) ? [one] : one.includes(id) ? (JSON.parse(one.toString()) as KeptCall[]) : [];
      const found = calls.find((call) => call.id === id);
      if (found) return found;
    }
    return undefined;
  }
}

/** As the agent gave it and got it, and as the server got it and gave it. A part with the same value on both sides is left out. */
function keptOf({ id, given, sent, outcome, result, received, progress }: Recording) {
  return {
    id,
    given,
    sent: sent === given ? undefined : sent,
    outcome: result ?? outcome,
    received: received === result ? undefined : received,
    progress: progress.length > 0 ? progress : undefined,
  };
}

/** The usual call is composed by hand around its result as it was written, because `JSON.stringify` takes most of the time (P11). */
function jsonOf(call: Recording): string {
  const { id, given, sent = given, text, received, result, progress } = call;
  const isUsual = received === result && sent === given && given !== undefined && progress.length === 0;
  if (text === undefined || !isUsual) return JSON.stringify(keptOf(call));
  return `{"id":"${id}","given":${JSON.stringify(given)},"outcome":${text}}`;
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
