/**
 * One call of the modern era, which may be asked something in mid-call (G4): then its POST ends with `input_required`
 * while the call stays in flight with the server, and the client's next POST, which has the answers, goes on with it.
 * It is never sent again for that.
 *
 * Invariants: every question is answered or refused once; what the server answers while nobody reads is kept for the
 * next POST; a call that is parked too long, or whose stream its client closes, is cancelled; it ends once.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { isObject } from '../base/isObject.js';
import type { Fields } from '../protocol/client.js';
import { errorCodes, RpcFailure } from '../protocol/errors.js';
import type { PostReply, Reply } from './eventStreams.js';
import { resultMessage, withId, type RequestId } from './jsonRpc.js';
import type { CallTarget, Parking } from './parking.js';

/** A call waits this long for its client, in milliseconds. */
const parkedLimitMs = 600_000;
/** A call may have this many questions open. */
const mostQuestions = 64;

interface Question {
  readonly request: Fields;
  resolve(answer: Fields): void;
  reject(error: Error): void;
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
      readonly limit: Disposable;
      readonly answer?: string | undefined;
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

  constructor(
    private readonly deps: ParkableCallDeps,
    carrier: Carrier,
  ) {
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

  settle(answer: string | undefined): void {
    const { state } = this;
    switch (state.kind) {
      case 'carried':
        state.by.reply.settle(answer === undefined ? undefined : withId(answer, this.first, state.by.id));
        return this.end();
      case 'parked':
        if (answer === undefined) return this.end();
        this.state = { ...state, answer };
        return;
      case 'over':
    }
  }

  /** Asks the client. Rejects where it cannot be asked any more. */
  ask(method: string, params: Fields | undefined, signal: AbortSignal): Promise<Fields> {
    if (this.state.kind === 'over') return refused('The client is not there to be asked.');
    if (this.questions.size >= mostQuestions || !this.deps.parking.hasRoom) return refused(tooMuch);
    if (signal.aborted) return refused(takenBack);
    const key = `question-${(this.asked += 1)}`;
    return new Promise((resolve, reject) => {
      const cancelled = (): void => {
        if (this.questions.delete(key)) reject(new RpcFailure(errorCodes.server, takenBack));
      };
      const settled = (): void => signal.removeEventListener('abort', cancelled);
      signal.addEventListener('abort', cancelled, { once: true });
      this.questions.set(key, {
        request: { method, ...(params && { params }) },
        resolve: (answer) => {
          settled();
          resolve(answer);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      this.parkSoon();
    });
  }

  /** Goes on with the POST that has the answers. A question that it leaves open is asked again. */
  goOn(carrier: Carrier, responses: Fields): void {
    const { state } = this;
    if (state.kind !== 'parked') return;
    state.limit.dispose();
    this.state = { kind: 'carried', by: carrier };
    if (state.answer !== undefined) return this.settle(state.answer);
    for (const [key, question] of [...this.questions]) {
      const response = responses[key];
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
    this.state = { kind: 'parked', state, limit };
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
    for (const question of questions) question.reject(new RpcFailure(errorCodes.server, message));
  }
}

const tooMuch = 'Too many clients are asked too much at once.';
const takenBack = 'The question was taken back.';

function refused(message: string): Promise<never> {
  return Promise.reject(new RpcFailure(errorCodes.server, message));
}
