/**
 * Records what happens on the servers of a host: facts, inputs and outputs. The shell keeps the
 * facts.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import type { Log, Redactor } from '../base/log.js';
import { jsonLines } from '../base/text.js';
import type { Fields } from '../protocol/client.js';
import { callerOf } from '../protocol/clientPolicy.js';
import type {
  OtherOutcome,
  ToolOutcome,
  ToolsetCall,
  ToolsetRequest,
} from '../protocol/request.js';
import { approximateSize, CallContents, idStart, Recording } from './contents.js';
import { isCall, parseFacts, type CallFact, type Fact, type ServerFact } from './fact.js';

let nextNumber = 0;

interface RecorderDeps {
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, 'redact' | 'changes'>;
  readonly isWanted: () => boolean;
}

/** The memory of a call without any text, in bytes. */
const ownSize = 500;
/**
 * Ended requests are recorded together, because one at a time takes longer; and later, so that no
 * answer waits (P11).
 */
const recordedTogether = 32;
const recordedWithinMs = 250;

const mostNames = 1_000;
/**
 * A longer text is hardly a name, and is cut; a program or a server could fill memory and file with
 * such texts.
 */
const longestName = 1_000;

/** Calls may have these in common. A line has them in this order. */
const nameKeys = [
  'outcome',
  'toolset',
  'conversation',
  'agent',
  'tool',
  'original',
  'instance',
  'method',
  'reason',
];
const redactedKeys = new Set(['agent', 'tool', 'original']);
type Names = readonly (string | undefined)[];

/** Calls one after another with the same names. A line for each would take longer (P11). */
interface CallLine {
  /** The beginning, with the names. */
  readonly head: string;
  readonly at: number;
  /** The numbers of each call, as `parseFacts` reads them. */
  readonly calls: number[];
}

export class Recorder {
  private readonly facts = new Emitter<string>();
  private readonly names = new Map<string, string>();
  private changes = 0;
  private last: { readonly names: Names; readonly head: string } | undefined;
  private ended: Recording[] = [];
  private noted: CallLine[] = [];
  private notedBefore: readonly CallLine[] = [];
  private timer: Disposable | undefined;
  readonly contents = new CallContents();
  /** Fires with facts as JSON Lines. */
  readonly onDidRecord = this.facts.event;

  constructor(private readonly deps: RecorderDeps) {}

  get isOn(): boolean {
    return this.facts.isHeard && this.deps.isWanted();
  }

  isOwn({ id }: Pick<Fact, 'id'>): boolean {
    return id.startsWith(idStart);
  }

  /**
   * Answers a request, and records it if somebody listens. The host and the pool report its tool
   * and its instance.
   */
  async recorded<Of extends ToolOutcome | OtherOutcome>(
    request: ToolsetCall | ToolsetRequest,
    answer: () => Promise<Of>,
  ): Promise<Of> {
    if (!this.isOn) return answer();
    const { clock } = this.deps;
    const recording = new Recording(request, clock.now());
    request.recording = recording;
    const { onProgress } = request;
    if (onProgress) {
      request.onProgress = (progress) => {
        recording.onProgress(progress);
        onProgress(progress);
      };
    }
    const outcome = await answer();
    recording.end(nextNumber++, outcome, clock.now());
    if (this.ended.push(recording) === recordedTogether) setImmediate(() => this.note());
    this.timer ??= clock.after(recordedWithinMs, () => this.flush());
    if ('tool' in request && outcome.kind === 'result') outcome.record = recording;
    return outcome;
  }

  /** Records what has ended. */
  flush(): void {
    this.timer?.dispose();
    this.timer = undefined;
    this.note();
    const { noted } = this;
    if (noted.length === 0) return;
    this.notedBefore = noted;
    this.noted = [];
    for (const line of noted) this.facts.fire(textOf(line));
  }

  /** Returns the fact of a call that has just ended. */
  latestFact(id: string): CallFact | undefined {
    return this.latestCalls().find((fact) => fact.id === id);
  }

  get lastCall(): CallFact | undefined {
    return this.latestCalls().at(-1);
  }

  private latestCalls(): CallFact[] {
    this.note();
    const latest = [...this.notedBefore, ...this.noted].flatMap((line) => parseFacts(textOf(line)));
    return latest.filter(isCall);
  }

  event(event: Omit<ServerFact, 'id' | 'at'>): void {
    if (!this.isOn) return;
    this.flush();
    const { clock, redactor } = this.deps;
    const reason = event.reason && redactor.redact(event.reason, longestName);
    this.facts.fire(
      jsonLines([
        {
          ...event,
          reason,
          id: `${idStart}${nextNumber++}`,
          at: clock.now(),
        },
      ]),
    );
  }

  /** Returns a log whose last lines are also kept beside the contents of calls. */
  listening(server: string, log: Log): Log {
    return {
      write: (level, message) => {
        log.write(level, message);
        if (this.isOn) this.contents.logs.add(server, this.deps.clock.now(), message);
      },
    };
  }

  dispose(): void {
    this.flush();
    this.facts.dispose();
    this.contents.clear();
  }

  private note(): void {
    const { ended } = this;
    this.ended = [];
    let line: CallLine | undefined;
    for (const recording of ended) line = this.noteOne(recording, line);
    this.contents.keep(ended);
  }

  private noteOne(recording: Recording, before: CallLine | undefined): CallLine {
    const { number, at, took, request, outcome, given, text, result, received, instance } =
      recording;
    const isCall = 'tool' in request;
    const item = isCall ? request.tool : itemOf(request.params);
    const method = isCall ? undefined : request.method;
    const program = request.client?.program ?? '';
    const agent = isCall ? callerOf(request.policy, program) : program;
    const unanswered = 'unanswered' in outcome ? outcome.unanswered : undefined;
    const inward = approximateSize(given);
    const isSame = received === result;
    const outward =
      isSame && text !== undefined ? { size: text.length, isWhole: true } : approximateSize(result);
    const kept = inward.size + outward.size + (isSame ? 0 : (text?.length ?? outward.size));
    if (inward.isWhole && outward.isWhole) recording.size = ownSize + kept;
    const { published = item, original = item } = recording;
    const how = unanswered?.kind ?? outcomeWord(outcome);
    const { toolset, conversation } = request;
    const names = [
      how,
      toolset,
      conversation,
      agent,
      published,
      original,
      instance,
      method,
      unanswered?.reason,
    ];
    const head = this.headOf(names);
    const line =
      before?.head === head
        ? before
        : {
            head,
            at,
            calls: [],
          };
    if (line !== before) this.noted.push(line);
    line.calls.push(number, at - line.at, took, inward.size, outward.size);
    return line;
  }

  /** Returns the beginning of a line. Agents often call one tool again and again. */
  private headOf(names: Names): string {
    const { changes } = this.deps.redactor;
    const { last } = this;
    const isKnown = this.changes === changes && last?.names.every((name, at) => name === names[at]);
    if (last && isKnown) return last.head;
    const parts = nameKeys.flatMap((key, index) => {
      const name = names[index];
      if (name === undefined) return [];
      return `"${key}":${redactedKeys.has(key) ? this.written(name) : JSON.stringify(name)}`;
    });
    const head = `{${parts.join()},"id":"${idStart}"`;
    this.last = { names, head };
    return head;
  }

  /** Redacted, as JSON. Names come again and again. */
  private written(text: string): string {
    const { redactor } = this.deps;
    if (text.length > longestName) return JSON.stringify(redactor.redact(text, longestName));
    if (this.names.size >= mostNames || this.changes !== redactor.changes) {
      this.names.clear();
      this.changes = redactor.changes;
    }
    const known = this.names.get(text);
    if (known !== undefined) return known;
    const json = JSON.stringify(redactor.redact(text));
    this.names.set(text, json);
    return json;
  }
}

function textOf({ head, at, calls }: CallLine): string {
  return `${head},"at":${at},"calls":${JSON.stringify(calls)}}\n`;
}

function itemOf({ name, uri, ref, taskId }: Fields): string {
  const { name: ofPrompt, uri: ofResource } = (ref ?? {}) as Fields;
  const found = [name, uri, ofPrompt, ofResource, taskId].find((one) => typeof one === 'string');
  return typeof found === 'string' ? found : '';
}

function outcomeWord(outcome: ToolOutcome | OtherOutcome): CallFact['outcome'] {
  if (outcome.kind !== 'result') return outcome.kind;
  return outcome.result['isError'] === true ? 'error' : 'ok';
}
