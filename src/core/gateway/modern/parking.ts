/**
 * Keeps the modern calls in wait for their clients (G4), by their request state. The state is signed with a key of
 * this process, bound to the conversation and the call, and valid once. It protects against an answer to the wrong
 * call, because every client with the token has the same rights. Invariant: their number is bounded; the longest
 * waiting call gives way, after a while.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '../../base/canonicalJson.js';
import type { Disposable } from '../../base/disposables.js';
import type { Fields } from '../../protocol/client.js';
import { withoutCarriage } from '../methods/requests.js';

const mostParked = 256;

const idBytes = 16;
const signatureBytes = 16;
const statePattern = /^[\w-]{43}$/;

/** The identity of a call: equal for its first request and for the one with the answers. */
export interface CallTarget {
  readonly toolset: string;
  /** Empty if one instance serves all conversations. */
  readonly conversation: string;
  readonly method: string;
  readonly params: Fields;
}

interface Parked {
  /** When it began to wait; undefined until it may give way. */
  readonly waitsSince: number | undefined;
  /** Ends it, because nobody will bring the answers. */
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

  /** Parks a call if there is room. Returns the state for `take` or `forget`. */
  put(call: Call, target: CallTarget): string {
    if (this.parked.size >= mostParked) this.longest?.abandon();
    const id = randomBytes(idBytes);
    const state = Buffer.concat([id, this.signature(id, digestOf(target))]).toString('base64url');
    this.parked.set(state, call);
    return state;
  }

  /** Returns the call with this state, if it is the same call. */
  take(state: unknown, target: CallTarget): Call | undefined {
    if (typeof state !== 'string' || !statePattern.test(state)) return undefined;
    const bytes = Buffer.from(state, 'base64url');
    const id = bytes.subarray(0, idBytes);
    if (!timingSafeEqual(bytes.subarray(idBytes), this.signature(id, digestOf(target)))) return undefined;
    const call = this.parked.get(state);
    this.parked.delete(state);
    return call;
  }

  /** True if an equal call waits; its client may have forgotten the state. */
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
