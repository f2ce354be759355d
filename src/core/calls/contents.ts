/**
 * The inputs and outputs of the last calls, in memory. Only the log is redacted: a view redacts the
 * rest. The values together have about `mostSize` characters at most, and the logs about `mostLog`.
 */
import { randomBytes } from 'node:crypto';
import { isObject } from '../base/isObject.js';
import { TextBytes } from '../base/textBytes.js';
import type {
  OtherOutcome,
  Progress,
  ToolOutcome,
  ToolsetCall,
  ToolsetRequest,
} from '../protocol/request.js';
import type { CallFact } from './fact.js';

type KeptCall = ReturnType<typeof keptOf>;

export type CallContent = NonNullable<ReturnType<CallContents['get']>>;

/** The beginning of the ids of this program's facts. A number follows. */
export const idStart = randomBytes(6).toString('base64url');
const none: readonly never[] = [];
const notEnded = { kind: 'cancelled' } as const;

/**
 * A request while it runs, and until its content is kept. One object of one layout, because each
 * call pays for it (P11).
 */
export class Recording {
  number = -1;
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

  get id(): string {
    return `${idStart}${this.number}`;
  }

  get given(): unknown {
    return 'tool' in this.request ? this.request.arguments : this.request.params;
  }

  get result(): unknown {
    return this.outcome.kind === 'result' ? this.outcome.result : undefined;
  }

  onFound({
    published,
    original,
  }: {
    readonly published: string;
    readonly original: string;
  }): void {
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

  end(number: number, outcome: ToolOutcome | OtherOutcome, at: number): void {
    this.number = number;
    this.outcome = outcome;
    this.took = at - this.at;
  }
}

const mostSize = 50 << 20;
const mostProgress = 100;

/** Calls of about the same age go together: removing single ones would cost every call. */
const generations = 16;

/**
 * In characters. Smaller contents are written out together, because bytes lie outside the
 * collector's heap (P11).
 */
const smallSize = 4_000;

class Generation {
  readonly calls: KeptCall[] = [];
  /** Calls as JSON, each after the end of a line. */
  readonly small = new TextBytes();
  size = 0;

  find(number: number): KeptCall | undefined {
    const { all } = this.small;
    const from = all.indexOf(`\n{"number":${number},`);
    if (from < 0) return this.calls.find((call) => call.number === number);
    const end = all.indexOf('\n', from + 1);
    return JSON.parse(all.toString('utf8', from, end < 0 ? all.length : end)) as KeptCall;
  }
}

export class CallContents {
  private kept: Generation[] = [];
  private size = 0;
  readonly logs = new RecentLogs();

  constructor(private readonly most = mostSize) {}

  get(fact: CallFact) {
    const number = fact.id.startsWith(idStart) ? Number(fact.id.slice(idStart.length)) : NaN;
    let found: KeptCall | undefined;
    for (const generation of this.kept) found ??= generation.find(number);
    if (!found) return undefined;
    const { given, sent, outcome, received, progress = none } = found;
    return {
      given,
      sent,
      outcome,
      received,
      progress,
      log: this.logs.during(fact),
    };
  }

  /** Keeps ended calls. The oldest ones make room. */
  keep(calls: readonly Recording[]): void {
    let small = '';
    let newest = this.kept.at(-1);
    for (const call of calls) {
      const { size } = call;
      if (size > this.most) continue;
      if (!newest || newest.size >= this.most / generations) {
        newest?.small.add(small);
        small = '';
        newest = new Generation();
        this.kept.push(newest);
      }
      newest.size += size;
      this.size += size;
      if (size > smallSize) newest.calls.push(keptOf(call));
      else small += `\n${jsonOf(call)}`;
    }
    newest?.small.add(small);
    while (this.size > this.most) this.size -= this.kept.shift()?.size ?? 0;
  }

  clear(): void {
    this.kept = [];
    this.size = 0;
    this.logs.begin();
  }
}

/**
 * As the agent gave it and got it, and as the server got it and gave it. A part with the same value
 * on both sides is left out.
 */
function keptOf({ number, given, sent, outcome, result, received, progress }: Recording) {
  return {
    number,
    given,
    sent: sent === given ? undefined : sent,
    outcome: result ?? outcome,
    received: received === result ? undefined : received,
    progress: progress.length > 0 ? progress : undefined,
  };
}

/**
 * The usual call is composed by hand around its result as it was written, because `JSON.stringify`
 * takes most of the time (P11).
 */
function jsonOf(call: Recording): string {
  const { number, given, sent = given, text, received, result, progress } = call;
  const isUsual =
    received === result && sent === given && given !== undefined && progress.length === 0;
  if (text === undefined || !isUsual) return JSON.stringify(keptOf(call));
  return `{"number":${number},"given":${JSON.stringify(given)},"outcome":${text}}`;
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
    return lines
      .flatMap((one) => (one.at >= at && one.at <= last ? [one.line] : []))
      .slice(0, mostLines);
  }

  begin(older: LogLine[] = []): void {
    this.older = older;
    this.newer = [];
    this.size = 0;
  }
}

/** A larger value is not measured to its end. */
const mostParts = 10_000;

/**
 * Counts the characters of texts, and eight for each other part. `isWhole`: there are at most
 * `mostParts` parts.
 */
export function approximateSize(value: unknown): {
  readonly size: number;
  readonly isWhole: boolean;
} {
  let size = 0;
  let parts = 0;
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
