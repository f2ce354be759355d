/**
 * Records what happens on the servers of a host: a fact of each request and each event, and what went in and out. It writes
 * nothing: the shell keeps the facts.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { Emitter } from '../base/events.js';
import type { Log } from '../base/log.js';
import type { Fields } from '../protocol/client.js';
import type {
  OtherOutcome,
  Progress,
  RequestTerms,
  ToolOutcome,
  ToolsetCall,
  ToolsetRequest,
} from '../protocol/request.js';
import { approximateSize, CallContents, noteProgress } from './contents.js';
import { tokensOf, type CallFact, type CallOutcome, type Fact, type ServerFact } from './fact.js';

/** No two programs make the same ids. */
const ofProgram = randomBytes(6).toString('base64url');
let last = 0;

/** The names of a called tool. */
type ToolNames = { readonly published: string; readonly original: string } | undefined;

interface RecorderDeps {
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  /** Read at each request. */
  readonly isWanted: () => boolean;
}

type Recorded = ToolOutcome | OtherOutcome;

export class Recorder {
  private readonly facts = new Emitter<Fact>();
  readonly contents = new CallContents();
  readonly onDidRecord = this.facts.event;

  constructor(private readonly deps: RecorderDeps) {}

  /** False if a record would be in vain. */
  get isOn(): boolean {
    return this.facts.isHeard && this.deps.isWanted();
  }

  /** True if this program made the fact. */
  isOwn({ id }: Pick<Fact, 'id'>): boolean {
    return id.startsWith(ofProgram);
  }

  /** @param tool the called tool, if there is one of this name */
  async call(
    call: ToolsetCall,
    tool: ToolNames,
    answer: (call: ToolsetCall) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    const { client, agent = client?.program ?? '' } = call;
    const { published = call.tool, original = call.tool } = tool ?? {};
    return await this.request(call, call.arguments, { agent, tool: published, original }, answer);
  }

  async otherRequest(
    request: ToolsetRequest,
    answer: (request: ToolsetRequest) => Promise<OtherOutcome>,
  ): Promise<OtherOutcome> {
    const { method, params, client } = request;
    const item = itemOf(params);
    return await this.request(
      request,
      params,
      { agent: client?.program ?? '', tool: item, original: item, method },
      answer,
    );
  }

  event(event: Omit<ServerFact, 'id' | 'at'>): void {
    if (this.isOn) this.facts.fire(this.redacted({ ...event, id: nextId(), at: this.deps.clock.now() }));
  }

  /** Returns a log that also shows calls in flight what it is given. */
  listening(server: string, log: Log): Log {
    return {
      write: (level, message) => {
        log.write(level, message);
        this.contents.hear(server, this.deps.clock.now(), message);
      },
    };
  }

  dispose(): void {
    this.facts.dispose();
    this.contents.clear();
  }

  private async request<
    Request extends RequestTerms & { toolset: string; conversation: string },
    Outcome extends Recorded,
  >(
    request: Request,
    given: Fields | undefined,
    names: Pick<CallFact, 'agent' | 'tool' | 'original' | 'method'>,
    answer: (request: Request) => Promise<Outcome>,
  ): Promise<Outcome> {
    const { clock } = this.deps;
    const { toolset, conversation, onProgress } = request;
    const at = clock.now();
    const { content, end } = this.contents.begin(toolset, at, given);
    let instance: string | undefined;
    const outcome = await answer({
      ...request,
      onSend: (used: string, sent: Fields | undefined) => {
        instance = used;
        content.sent = sent;
      },
      ...(onProgress && {
        onProgress: (progress: Progress) => {
          noteProgress(content, progress);
          onProgress(progress);
        },
      }),
    });
    const endedAt = clock.now();
    end(endedAt);
    content.outcome = outcome.kind === 'result' ? outcome.result : outcome;
    const [sent, result] = [
      approximateSize(given),
      approximateSize(outcome.kind === 'result' ? outcome.result : undefined),
    ];
    const reason = reasonOf(outcome);
    const fact: CallFact = this.redacted({
      id: nextId(),
      at,
      toolset,
      ...(instance !== undefined && { instance }),
      ...names,
      conversation,
      took: endedAt - at,
      sentSize: sent.size,
      resultSize: result.size,
      tokens: tokensOf(result.size),
      outcome: outcomeWord(outcome),
      ...(reason !== undefined && { reason }),
    });
    // The agent may get the result in another form.
    const size = sent.isWhole && result.isWhole ? sent.size + 2 * result.size : Infinity;
    this.contents.keep(fact, content, size);
    this.facts.fire(fact);
    if (outcome.kind !== 'result') return outcome;
    return { ...outcome, record: fact.id, onReceived: (received: unknown) => (content.received = received) };
  }

  private redacted<Recorded extends Fact>(fact: Recorded): Recorded {
    const texts = (['agent', 'tool', 'original', 'reason'] as const).flatMap((key) => {
      const text = (fact as Partial<CallFact>)[key];
      return text === undefined ? [] : [[key, this.deps.redact(text)]];
    });
    return { ...fact, ...Object.fromEntries(texts) };
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

function outcomeWord(outcome: Recorded): CallOutcome {
  if (outcome.kind !== 'result') return outcome.kind;
  if ('unanswered' in outcome && outcome.unanswered) return outcome.unanswered.kind;
  return outcome.result['isError'] === true ? 'error' : 'ok';
}

function reasonOf(outcome: Recorded): string | undefined {
  return outcome.kind === 'result' && 'unanswered' in outcome ? outcome.unanswered?.reason : undefined;
}
