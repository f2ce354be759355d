import { createHash, createHmac, randomBytes } from 'node:crypto';
import { canonicalJson } from '../../base/canonicalJson.js';
import type { Disposable } from '../../base/disposables.js';
import type { Fields } from '../../protocol/client.js';
import { withoutCarriage } from '../methods/requests.js';
import type { Clock } from '../../base/clock.js';
import { isObject } from '../../base/isObject.js';
import type { PostReply, Reply } from '../eventStreams.js';
import { resultMessage, withId, type RequestId } from '../../protocol/jsonRpc.js';
import { presentAnswer } from '../../protocol/shapes.js';
import { notAsked, OpenQuestions } from '../conversations/openQuestions.js';

const mostParked = 256;

/** The identity of a call: equal for its first request and for the one with the answers. */
export interface CallTarget {
  readonly toolset: string;
  /** Empty if one instance serves all conversations. */
  readonly conversation: string;
  readonly method: string;
  readonly params: Fields;
}

/**
 * Calls in wait, by their signatures. These prevent only mistakes: every client with the token has
 * equal rights.
 */
export class Parking implements Disposable {
  private readonly parked = new Map<
    string,
    { readonly call: ParkableCall; readonly digest: string }
  >();

  get hasRoom(): boolean {
    return this.parked.size < mostParked || this.longest?.waitsSince !== undefined;
  }

  private get longest(): ParkableCall | undefined {
    const [longest] = this.parked.values();
    return longest?.call;
  }

  /** Returns the state for `take` or `forget`. */
  put(call: ParkableCall, target: CallTarget): string {
    if (this.parked.size >= mostParked) this.longest?.abandon();
    const digest = digestOf(target);
    const state = createHmac('sha256', randomBytes(32)).update(digest).digest('base64url');
    this.parked.set(state, { call, digest });
    return state;
  }

  take(state: unknown, target: CallTarget): ParkableCall | undefined {
    const parked = this.parked.get(state as string);
    if (parked?.digest !== digestOf(target)) return undefined;
    this.parked.delete(state as string);
    return parked.call;
  }

  /** True if an equal call waits; its client may have forgotten the state. */
  waits(target: CallTarget): boolean {
    const wanted = digestOf(target);
    return [...this.parked.values()].some(({ digest }) => digest === wanted);
  }

  forget(state: string): void {
    this.parked.delete(state);
  }

  dispose(): void {
    for (const { call } of [...this.parked.values()]) call.abandon();
  }
}

function digestOf({ toolset, conversation, method, params }: CallTarget): string {
  const call = canonicalJson([toolset, conversation, method, withoutCarriage(params)]);
  return createHash('sha256').update(call).digest('base64url');
}

/** A call waits this long for its client, in milliseconds. */
const parkedLimitMs = 600_000;
/** A call gives way to others after waiting this long, in milliseconds. */
const undisturbedMs = 60_000;
const mostQuestions = 64;

/** The first POST of a call, or a later one with answers. */
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
  readonly parking: Parking;
  readonly clock: Clock;
  readonly serverMeta: Fields;
  /** Called once at the end of the call. It has to cancel everything still in flight. */
  readonly end: () => void;
}

/**
 * A modern call. A question ends its POST, and the next POST brings the answers. Invariants: a
 * question is answered or refused once; an early result waits for the next POST. Closing the stream
 * or a long wait cancels the call (G4b).
 */
export class ParkableCall implements Reply {
  private state: State;
  private readonly first: RequestId;
  private readonly questions = new OpenQuestions<Fields>();
  private asked = 0;
  private toPark: NodeJS.Immediate | undefined;
  private readonly given: Map<string, unknown> | undefined;

  /** @param given answers from before the questions, by the keys of the server's questions */
  constructor(
    private readonly deps: ParkableCallDeps,
    carrier: Carrier,
    given?: Fields,
  ) {
    this.given = given && new Map(Object.entries(given));
    this.first = carrier.id;
    this.state = { kind: 'carried', by: carrier };
  }

  send(message: string): void {
    if (this.state.kind === 'carried') this.state.by.reply.send(message);
  }

  sendIfReading(message: string): void {
    if (this.state.kind === 'carried') this.state.by.reply.sendIfReading(message);
  }

  progressToken(): unknown {
    return this.state.kind === 'carried' ? this.state.by.progressToken : undefined;
  }

  get waitsSince(): number | undefined {
    const { state } = this;
    const isLong =
      state.kind === 'parked' && state.since + undisturbedMs <= this.deps.clock.awake();
    return isLong ? state.since : undefined;
  }

  settle(answer: string | undefined, status?: number): void {
    const { state } = this;
    if (state.kind === 'over') return;
    if (state.kind === 'parked' && answer !== undefined) {
      this.state = {
        ...state,
        answer,
        status,
      };
      return;
    }
    const sent = state.kind === 'carried' ? state.by : undefined;
    sent?.reply.settle(
      answer === undefined ? undefined : withId(answer, this.first, sent.id),
      status,
    );
    this.abandon();
  }

  ask(
    method: string,
    params: Fields | undefined,
    signal: AbortSignal,
    wanted?: string,
  ): Promise<Fields> {
    if (this.state.kind === 'over') return notAsked('The client is not connected.');
    const given = wanted === undefined ? undefined : this.given?.get(wanted);
    if (wanted !== undefined) this.given?.delete(wanted);
    if (isObject(given)) return Promise.resolve(presentAnswer(given));
    if (this.questions.size >= mostQuestions || !this.deps.parking.hasRoom)
      return notAsked(tooMuch);
    this.parkSoon();
    return this.questions.ask(this.keyFor(wanted), { method, ...(params && { params }) }, signal);
  }

  /** Returns an unused key, if possible the server's own, because its documentation may name it. */
  private keyFor(wanted: string | undefined): string {
    let key = wanted;
    while (key === undefined || this.questions.has(key)) key = `question-${(this.asked += 1)}`;
    return key;
  }

  /** An open question is asked again. */
  resume(carrier: Carrier, responses: Fields = {}): void {
    const { state } = this;
    if (state.kind !== 'parked') return;
    state.limit.dispose();
    this.state = { kind: 'carried', by: carrier };
    if (state.answer !== undefined) return this.settle(state.answer, state.status);
    for (const [key, { settle }] of [...this.questions]) {
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (isObject(response)) settle(presentAnswer(response));
    }
    if (this.questions.size > 0) this.parkSoon();
  }

  /** The stream of a POST has closed. For the current POST, this cancels the call. */
  closed({ reply }: Pick<Carrier, 'reply'>): void {
    if (this.state.kind === 'carried' && this.state.by.reply === reply) this.abandon();
  }

  /** Questions of one turn go out together. */
  private parkSoon(): void {
    this.toPark ??= setImmediate(() => {
      this.toPark = undefined;
      if (this.state.kind === 'carried' && this.questions.size > 0) this.park(this.state.by);
    });
  }

  private park({ id, reply }: Carrier): void {
    const { parking, target, clock, serverMeta: _meta } = this.deps;
    if (!parking.hasRoom) return this.questions.refuseAll(tooMuch);
    const state = parking.put(this, target);
    const limit = clock.after(parkedLimitMs, () => this.abandon());
    this.state = {
      kind: 'parked',
      state,
      since: clock.awake(),
      limit,
    };
    const inputRequests = Object.fromEntries(
      [...this.questions].map(([key, { about }]) => [key, about]),
    );
    const result = {
      resultType: 'input_required',
      inputRequests,
      requestState: state,
      _meta,
    };
    reply.settle(resultMessage(id, JSON.stringify(result)));
  }

  abandon(): void {
    const { state } = this;
    if (state.kind === 'over') return;
    this.state = { kind: 'over' };
    clearImmediate(this.toPark);
    if (state.kind === 'parked') {
      state.limit.dispose();
      this.deps.parking.forget(state.state);
    }
    this.questions.refuseAll('The call of the client that was asked is over.');
    this.deps.end();
  }
}

const tooMuch = 'The clients have too many open questions.';
