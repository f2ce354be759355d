/**
 * One call of the modern era, which may be asked something in mid-call (G4): then its POST ends with `input_required`
 * while the call stays in flight with the server, and the client's next POST, which has the answers, goes on with it.
 * It is never sent again for that.
 *
 * Invariants: every question is answered or refused once; what the server answers while nobody reads is kept for the
 * next POST; a call that is parked too long, or whose stream its client closes, is cancelled, and sooner if others need
 * what it holds (L2); it ends once.
 */
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import { isObject } from '../../base/isObject.js';
import type { Fields } from '../../protocol/client.js';
import { errorCodes, RpcFailure } from '../../protocol/errors.js';
import type { PostReply, Reply } from '../eventStreams.js';
import { resultMessage, withId, type RequestId } from '../jsonRpc.js';
import { notAsked, openQuestion, takenBack, type OpenQuestion } from '../conversations/openQuestion.js';
import type { CallTarget, Parking } from './parking.js';

/** A call waits this long for its client, in milliseconds. */
const parkedLimitMs = 600_000;
/** So long a person has to answer before the call gives way to others, in milliseconds. */
const undisturbedMs = 60_000;
/** A call may have this many questions open. */
const mostQuestions = 64;

interface Question {
  readonly request: Fields;
  readonly question: OpenQuestion<Fields>;
}

/** A POST that carries the call: the first, or one that brings answers. */
interface Carrier {
  readonly id: RequestId;
  readonly reply: PostReply;
  readonly progressToken: unknown;
}

type State =
  | { readonly kind: 'carried'; readonly by: Carrier }
  | {
      readonly kind: 'parked';
      readonly state: string;
      readonly since: number;
      readonly limit: Disposable;
      readonly answer?: string | undefined;
      readonly status?: number | undefined;
    }
  | { readonly kind: 'over' };

interface ParkableCallDeps {
  readonly target: CallTarget;
  readonly parking: Parking<ParkableCall>;
  readonly clock: Clock;
  /** Called once, when nothing of the call is left to do. What is still in flight is to be cancelled. */
  readonly end: () => void;
}

export class ParkableCall implements Reply {
  private state: State;
  private readonly first: RequestId;
  private readonly questions = new Map<string, Question>();
  private asked = 0;
  private toPark: NodeJS.Immediate | undefined;

  private readonly given: Map<string, unknown>;

  /** @param given answers that the client brings before it is asked, by the keys under which the server will ask */
  constructor(
    private readonly deps: ParkableCallDeps,
    carrier: Carrier,
    given: Fields = {},
  ) {
    this.given = new Map(Object.entries(given));
    this.first = carrier.id;
    this.state = { kind: 'carried', by: carrier };
  }

  send(message: string): void {
    if (this.state.kind === 'carried') this.state.by.reply.send(message);
  }

  sendIfReading(message: string): void {
    if (this.state.kind === 'carried') this.state.by.reply.sendIfReading(message);
  }

  /** A POST says itself under which token it wants to hear of progress. */
  progressToken(): unknown {
    return this.state.kind === 'carried' ? this.state.by.progressToken : undefined;
  }

  get waitsSince(): number | undefined {
    const { state } = this;
    const isLong = state.kind === 'parked' && state.since + undisturbedMs <= this.deps.clock.now();
    return isLong ? state.since : undefined;
  }

  settle(answer: string | undefined, status?: number): void {
    const { state } = this;
    switch (state.kind) {
      case 'carried':
        state.by.reply.settle(answer === undefined ? undefined : withId(answer, this.first, state.by.id), status);
        return this.end();
      case 'parked':
        if (answer === undefined) return this.end();
        this.state = { ...state, answer, status };
        return;
      case 'over':
    }
  }

  /**
   * Asks the client. Rejects where it cannot be asked any more.
   * @param wanted the key under which the server asks, if it has one
   */
  ask(method: string, params: Fields | undefined, signal: AbortSignal, wanted?: string): Promise<Fields> {
    if (this.state.kind === 'over') return notAsked('The client is not connected.');
    const given = wanted === undefined ? undefined : this.given.get(wanted);
    if (wanted !== undefined) this.given.delete(wanted);
    if (isObject(given)) return Promise.resolve(given);
    if (this.questions.size >= mostQuestions || !this.deps.parking.hasRoom) return notAsked(tooMuch);
    if (signal.aborted) return notAsked(takenBack);
    const key = this.keyFor(wanted);
    const question = openQuestion<Fields>(signal, () => this.questions.delete(key));
    this.questions.set(key, { request: { method, ...(params && { params }) }, question });
    this.parkSoon();
    return question.answer;
  }

  /** A key that is not open; that of the server wherever it can be, as its documentation may name it. */
  private keyFor(wanted: string | undefined): string {
    let key = wanted;
    while (key === undefined || this.questions.has(key)) key = `question-${(this.asked += 1)}`;
    return key;
  }

  /** Goes on with the POST that has the answers. A question that it leaves open is asked again. */
  goOn(carrier: Carrier, responses: Fields): void {
    const { state } = this;
    if (state.kind !== 'parked') return;
    state.limit.dispose();
    this.state = { kind: 'carried', by: carrier };
    if (state.answer !== undefined) return this.settle(state.answer, state.status);
    for (const [key, { question }] of [...this.questions]) {
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (!isObject(response)) continue;
      this.questions.delete(key);
      question.resolve(response);
    }
    carrier.reply.release();
    if (this.questions.size > 0) this.parkSoon();
  }

  /** The stream of a POST has closed; that of the POST that carries the call is its cancellation. */
  closed({ reply }: Pick<Carrier, 'reply'>): void {
    if (this.state.kind === 'carried' && this.state.by.reply === reply) this.end();
  }

  abandon(): void {
    this.end();
  }

  /** What is asked in the same turn goes out together. */
  private parkSoon(): void {
    this.toPark ??= setImmediate(() => {
      this.toPark = undefined;
      if (this.state.kind === 'carried' && this.questions.size > 0) this.park(this.state.by);
    });
  }

  private park({ id, reply }: Carrier): void {
    const { parking, target, clock } = this.deps;
    if (!parking.hasRoom) return this.refuse(tooMuch);
    const state = parking.put(this, target);
    const limit = clock.after(parkedLimitMs, () => this.abandon());
    this.state = { kind: 'parked', state, since: clock.now(), limit };
    const requests = [...this.questions].map(([key, { request }]) => [key, request] as const);
    const result = { resultType: 'input_required', inputRequests: Object.fromEntries(requests), requestState: state };
    reply.settle(resultMessage(id, JSON.stringify(result)));
  }

  private end(): void {
    const { state } = this;
    if (state.kind === 'over') return;
    this.state = { kind: 'over' };
    clearImmediate(this.toPark);
    if (state.kind === 'parked') {
      state.limit.dispose();
      this.deps.parking.forget(state.state);
    }
    this.refuse('The call of the client that was asked is over.');
    this.deps.end();
  }

  private refuse(message: string): void {
    const questions = [...this.questions.values()];
    this.questions.clear();
    for (const { question } of questions) question.reject(new RpcFailure(errorCodes.server, message));
  }
}

const tooMuch = 'The clients have too many open questions.';
