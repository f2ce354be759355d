/** Records what happens on the servers of a host: facts, inputs and outputs. The shell keeps the facts. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { Emitter } from '../base/events.js';
import type { Log, Redactor } from '../base/log.js';
import type { Fields } from '../protocol/client.js';
import type { OtherOutcome, ToolOutcome, ToolsetCall, ToolsetRequest } from '../protocol/request.js';
import { approximateSize, CallContents, Recording } from './contents.js';
import { tokensOf, type CallFact, type Fact, type ServerFact } from './fact.js';

const ofProgram = randomBytes(6).toString('base64url');
let last = 0;

interface RecorderDeps {
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, 'redact' | 'changes'>;
  readonly isWanted: () => boolean;
}

/** The memory of a call without any text, in bytes. */
const ownSize = 500;

const mostNames = 1_000;
/** A longer text is hardly a name, and is cut; a program or a server could fill memory and file with such texts. */
const longestName = 1_000;

export class Recorder {
  private readonly facts = new Emitter<Fact>();
  private readonly names = new Map<string, string>();
  private changes = 0;
  readonly contents = new CallContents();
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
    const recording = new Recording('tool' in request ? request.arguments : request.params, this.deps.clock.now());
    request.recording = recording;
    const { onProgress } = request;
    if (onProgress) {
      request.onProgress = (progress) => {
        recording.onProgress(progress);
        onProgress(progress);
      };
    }
    const outcome = await answer();
    this.end(recording, request, outcome);
    if ('tool' in request && outcome.kind === 'result') outcome.record = recording;
    return outcome;
  }

  event(event: Omit<ServerFact, 'id' | 'at'>): void {
    if (!this.isOn) return;
    const reason = event.reason === undefined ? undefined : this.redacted(event.reason);
    this.facts.fire({ ...event, reason, id: nextId(), at: this.deps.clock.now() });
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
    this.facts.dispose();
    this.contents.clear();
  }

  private end(recording: Recording, request: ToolsetCall | ToolsetRequest, outcome: ToolOutcome | OtherOutcome): void {
    const [item, method, agent] =
      'tool' in request
        ? [request.tool, undefined, request.agent]
        : [itemOf(request.params), request.method, undefined];
    const { at, given, instance, published = item, original = item } = recording;
    const result = outcome.kind === 'result' ? outcome.result : undefined;
    const unanswered = 'unanswered' in outcome ? outcome.unanswered : undefined;
    const [inward, outward] = [approximateSize(given), approximateSize(result)];
    // Written out with all keys, so that all facts have one layout (P11).
    const fact: CallFact = {
      id: nextId(),
      at,
      toolset: request.toolset,
      instance,
      agent: this.redacted(agent ?? request.client?.program ?? ''),
      conversation: request.conversation,
      tool: this.redacted(published),
      original: this.redacted(original),
      method,
      took: this.deps.clock.now() - at,
      sentSize: inward.size,
      resultSize: outward.size,
      tokens: tokensOf(outward.size),
      outcome: unanswered?.kind ?? outcomeWord(outcome),
      reason: unanswered?.reason,
    };
    recording.id = fact.id;
    recording.fact = fact;
    recording.outcome = result ?? outcome;
    // The agent may get the result in another form.
    const size = inward.isWhole && outward.isWhole ? ownSize + inward.size + 2 * outward.size : Infinity;
    this.contents.keep(recording, size);
    this.facts.fire(fact);
  }

  /** Names come again and again. */
  private redacted(text: string): string {
    const { redactor } = this.deps;
    if (text.length > longestName) return redactor.redact(text, longestName);
    if (this.names.size >= mostNames || this.changes !== redactor.changes) {
      this.names.clear();
      this.changes = redactor.changes;
    }
    let found = this.names.get(text);
    if (found === undefined) this.names.set(text, (found = redactor.redact(text)));
    return found;
  }
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
