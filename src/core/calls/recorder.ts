/**
 * Records what happens on the servers of a host: a fact of each request and each event, and what went in and out. It writes
 * nothing: the shell keeps the facts.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { Emitter } from '../base/events.js';
import type { Log, Redactor } from '../base/log.js';
import type { Fields } from '../protocol/client.js';
import type { OtherOutcome, RequestTerms, ToolOutcome, ToolsetCall, ToolsetRequest } from '../protocol/request.js';
import { approximateSize, CallContents, Recording } from './contents.js';
import { tokensOf, type CallFact, type CallOutcome, type Fact, type ServerFact } from './fact.js';

/** No two programs make the same ids. */
const ofProgram = randomBytes(6).toString('base64url');
let last = 0;

interface RecorderDeps {
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, 'redact' | 'changes'>;
  /** Read at each request. */
  readonly isWanted: () => boolean;
}

/** What a call without any text takes in memory, in bytes. */
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

  /**
   * Begins the record of a request. The host and the pool then report its tool and its instance. Returns undefined if nothing is recorded.
   *
   * @param given what the agent gave
   */
  begin(request: RequestTerms, given: Fields | undefined): Recording | undefined {
    if (!this.isOn) return undefined;
    const recording = new Recording(given, this.deps.clock.now());
    request.recording = recording;
    const { onProgress } = request;
    if (onProgress) {
      request.onProgress = (progress) => {
        recording.onProgress(progress);
        onProgress(progress);
      };
    }
    return recording;
  }

  endCall(recording: Recording, call: ToolsetCall, outcome: ToolOutcome): void {
    const { published = call.tool, original = call.tool } = recording;
    this.end(recording, call, call.agent ?? call.client?.program ?? '', published, original, undefined, outcome);
    if (outcome.kind === 'result') outcome.record = recording;
  }

  endRequest(recording: Recording, request: ToolsetRequest, outcome: OtherOutcome): void {
    const item = itemOf(request.params);
    this.end(recording, request, request.client?.program ?? '', item, item, request.method, outcome);
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

  private end(
    recording: Recording,
    { toolset, conversation }: { readonly toolset: string; readonly conversation: string },
    agent: string,
    tool: string,
    original: string,
    method: string | undefined,
    outcome: ToolOutcome | OtherOutcome,
  ): void {
    const { at, given, instance } = recording;
    const endedAt = this.deps.clock.now();
    const result = outcome.kind === 'result' ? outcome.result : undefined;
    const [inward, outward] = [approximateSize(given), approximateSize(result)];
    // Written out with all keys, so that all facts have one layout (P11).
    const fact: CallFact = {
      id: nextId(),
      at,
      toolset,
      instance,
      agent: this.redacted(agent),
      conversation,
      tool: this.redacted(tool),
      original: this.redacted(original),
      method,
      took: endedAt - at,
      sentSize: inward.size,
      resultSize: outward.size,
      tokens: tokensOf(outward.size),
      outcome: outcomeWord(outcome),
      reason: reasonOf(outcome),
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

/** Returns the prompt, the resource, or the task of a request. */
function itemOf({ name, uri, ref, taskId }: Fields): string {
  const { name: ofPrompt, uri: ofResource } = (ref ?? {}) as Fields;
  const found = [name, uri, ofPrompt, ofResource, taskId].find((one) => typeof one === 'string');
  return typeof found === 'string' ? found : '';
}

function outcomeWord(outcome: ToolOutcome | OtherOutcome): CallOutcome {
  if (outcome.kind !== 'result') return outcome.kind;
  if ('unanswered' in outcome && outcome.unanswered) return outcome.unanswered.kind;
  return outcome.result['isError'] === true ? 'error' : 'ok';
}

function reasonOf(outcome: ToolOutcome | OtherOutcome): string | undefined {
  return outcome.kind === 'result' && 'unanswered' in outcome ? outcome.unanswered?.reason : undefined;
}
