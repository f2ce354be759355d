/**
 * Keeps the calls of the modern era that wait for their clients (G4), by the request state with which the client goes
 * on. The state is signed with a key of this process and bound to the conversation and to the call, and it is good
 * once. Whoever shows it has the token and its rights: what is kept out is an answer that reaches a call which did not
 * ask. Invariant: their number is bounded; the one that waits the longest gives way, once it has waited a while.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '../../base/canonicalJson.js';
import type { Disposable } from '../../base/disposables.js';
import type { Fields } from '../../protocol/client.js';
import { withoutCarriage } from '../methods/requests.js';

/** This many calls may wait for their clients. */
const mostParked = 256;

const idBytes = 16;
const signatureBytes = 16;
const statePattern = /^[\w-]{43}$/;

/** What a call is: the same for the request that was parked and for the one that brings the answers. */
export interface CallTarget {
  readonly toolset: string;
  /** Empty where one instance serves all conversations, and nothing tells them apart. */
  readonly conversation: string;
  readonly method: string;
  readonly params: Fields;
}

interface Parked {
  /** The time since when it waits, once that is so long that it gives way. */
  readonly waitsSince: number | undefined;
  /** Ends it, as nobody will bring the answers. */
  abandon(): void;
}

export class Parking<Call extends Parked> implements Disposable {
  private readonly key = randomBytes(32);
  private readonly parked = new Map<string, Call>();

  get hasRoom(): boolean {
    return this.parked.size < mostParked || this.longest?.waitsSince !== undefined;
  }

  private get longest(): Call | undefined {
    const [longest] = this.parked.values();
    return longest;
  }

  /** Parks a call where there is room. Returns the state that takes it out, or `forget`s it. */
  put(call: Call, target: CallTarget): string {
    if (this.parked.size >= mostParked) this.longest?.abandon();
    const id = randomBytes(idBytes);
    const state = Buffer.concat([id, this.signature(id, digestOf(target))]).toString('base64url');
    this.parked.set(state, call);
    return state;
  }

  /** Takes out the call that waits with this state; undefined where none does, or it is another one. */
  take(state: unknown, target: CallTarget): Call | undefined {
    if (typeof state !== 'string' || !statePattern.test(state)) return undefined;
    const bytes = Buffer.from(state, 'base64url');
    const id = bytes.subarray(0, idBytes);
    if (!timingSafeEqual(bytes.subarray(idBytes), this.signature(id, digestOf(target)))) return undefined;
    const call = this.parked.get(state);
    this.parked.delete(state);
    return call;
  }

  /** Says whether a call like this waits, which its client may have forgotten to say. */
  waits(target: CallTarget): boolean {
    const digest = digestOf(target);
    return [...this.parked.keys()].some((state) => {
      const bytes = Buffer.from(state, 'base64url');
      return timingSafeEqual(bytes.subarray(idBytes), this.signature(bytes.subarray(0, idBytes), digest));
    });
  }

  forget(state: string): void {
    this.parked.delete(state);
  }

  dispose(): void {
    for (const call of [...this.parked.values()]) call.abandon();
    this.parked.clear();
  }

  private signature(id: Buffer, digest: Buffer): Buffer {
    return createHmac('sha256', this.key).update(id).update(digest).digest().subarray(0, signatureBytes);
  }
}

function digestOf({ toolset, conversation, method, params }: CallTarget): Buffer {
  const call = canonicalJson([toolset, conversation, method, withoutCarriage(params)]);
  return createHash('sha256').update(call).digest();
}
