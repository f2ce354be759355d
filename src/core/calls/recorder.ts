/** Records what happens on the servers of a host: facts, inputs and outputs. The shell keeps the facts. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import type { Log, Redactor } from '../base/log.js';
import { jsonLines, linesOf } from '../base/text.js';
import type { Fields } from '../protocol/client.js';
import type { OtherOutcome, ToolOutcome, ToolsetCall, ToolsetRequest } from '../protocol/request.js';
import { approximateSize, CallContents, Recording } from './contents.js';
import { parseFact, tokensOf, type CallFact, type Fact, type ServerFact } from './fact.js';

const ofProgram = randomBytes(6).toString('base64url');
let last = 0;

interface RecorderDeps {
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, 'redact' | 'changes'>;
  readonly isWanted: () => boolean;
}

/** The memory of a call without any text, in bytes. */
const ownSize = 500;
/** Ended requests are recorded together, because one at a time takes longer; and later, so that no answer waits (P11). */
const recordedTogether = 32;
const recordedWithinMs = 250;
/** A view asks for its own call before this many more times are recorded. */
const mostLatest = 8;

const mostNames = 1_000;
/** A longer text is hardly a name, and is cut; a program or a server could fill memory and file with such texts. */
const longestName = 1_000;

export class Recorder {
  private readonly facts = new Emitter<string>();
  private readonly names = new Map<string, string>();
  private changes = 0;
  private ended: Recording[] = [];
  private timer: Disposable | undefined;
  private latest: readonly string[] = [];
  readonly contents = new CallContents();
  /** Fires with facts as JSON Lines. */
  readonly onDidRecord = this.facts.event;

  constructor(private readonly deps: RecorderDeps) {}

  get isOn(): boolean {
    return this.facts.isHeard && this.deps.isWanted();
  }

  isOwn({ id }: Pick<Fact, 'id'>): boolean {
    return id.startsWith(ofProgram);
  }

  /** Answers a request, and records it if somebody listens. The host and the pool report its tool and its instance. */
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
    recording.end(nextId(), outcome, clock.now());
    if (this.ended.push(recording) === recordedTogether) setImmediate(() => this.flush());
    this.timer ??= clock.after(recordedWithinMs, () => this.flush());
    if ('tool' in request && outcome.kind === 'result') outcome.record = recording;
    return outcome;
  }

  /** Records what has ended. */
  flush(): void {
    const { ended } = this;
    this.timer?.dispose();
    this.timer = undefined;
    if (ended.length === 0) return;
    this.ended = [];
    let lines = '';
    for (const recording of ended) lines += this.lineOf(recording);
    this.latest = [...this.latest.slice(1 - mostLatest), lines];
    this.contents.keep(ended);
    this.facts.fire(lines);
  }

  /** Returns the fact of a call that has just ended. */
  latestFact(id: string): CallFact | undefined {
    this.flush();
    const facts = linesOf(this.latest.join('')).map(parseFact);
    return facts.find((fact): fact is CallFact => fact?.id === id);
  }

  event(event: Omit<ServerFact, 'id' | 'at'>): void {
    if (!this.isOn) return;
    this.flush();
    const { clock, redactor } = this.deps;
    const reason = event.reason && redactor.redact(event.reason, longestName);
    this.facts.fire(jsonLines([{ ...event, reason, id: nextId(), at: clock.now() }]));
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

  /** The line is composed by hand, because `JSON.stringify` takes twice as long (P11). */
  private lineOf(recording: Recording): string {
    const { id, at, took, request, outcome, given, text, result, received, instance } = recording;
    const isCall = 'tool' in request;
    const item = isCall ? request.tool : itemOf(request.params);
    const agent = (isCall ? request.agent : undefined) ?? request.client?.program ?? '';
    const unanswered = 'unanswered' in outcome ? outcome.unanswered : undefined;
    const [inward, isSame] = [approximateSize(given), received === result];
    const outward = isSame && text !== undefined ? { size: text.length, isWhole: true } : approximateSize(result);
    const kept = inward.size + outward.size + (isSame ? 0 : (text?.length ?? outward.size));
    if (inward.isWhole && outward.isWhole) recording.size = ownSize + kept;
    const { published = item, original = item } = recording;
    const method = isCall ? undefined : request.method;
    const when = `{"id":"${id}","at":${at},"took":${took},"outcome":"${unanswered?.kind ?? outcomeWord(outcome)}"`;
    const where = field('toolset', request.toolset) + field('conversation', request.conversation);
    const names = `,"agent":${this.written(agent)},"tool":${this.written(published)},"original":${this.written(original)}`;
    const more = field('instance', instance) + field('method', method) + field('reason', unanswered?.reason);
    const sizes = `,"sentSize":${inward.size},"resultSize":${outward.size},"tokens":${tokensOf(outward.size)}`;
    return `${when}${where}${names}${more}${sizes}}\n`;
  }

  /** Redacted, as JSON. Names come again and again. */
  private written(text: string): string {
    const { redactor } = this.deps;
    if (text.length > longestName) return JSON.stringify(redactor.redact(text, longestName));
    if (this.names.size >= mostNames || this.changes !== redactor.changes) {
      this.names.clear();
      this.changes = redactor.changes;
    }
    let found = this.names.get(text);
    if (found === undefined) this.names.set(text, (found = JSON.stringify(redactor.redact(text))));
    return found;
  }
}

function field(key: string, value: string | undefined): string {
  return value === undefined ? '' : `,"${key}":${JSON.stringify(value)}`;
}

function nextId(): string {
  return `${ofProgram}${last++}`;
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
