/** What a modern server wants to know before it answers a request, and what it was answered. Pure but for its state. */
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { randomUUID } from 'node:crypto';
import { isObject } from '../../base/isObject.js';
import type { Fields } from '../../protocol/client.js';

/** How often a server may ask for more before its call fails. */
export const mostRounds = 16;
/** The pause before a request goes out again for which nobody had to be asked. */
export const stateOnlyPauseMs = 250;
const mostRequests = 64;

interface InputRequest {
  readonly id: RequestId;
  readonly key: string;
  readonly method: string;
  readonly params: Fields | undefined;
}

let nextId = 1;

export class InputRound {
  readonly unanswered: Set<RequestId>;
  private readonly answers = new Map<string, unknown>();

  private constructor(
    readonly requests: readonly InputRequest[],
    /** What the server wants to have back, word for word. */
    private readonly state: string | undefined,
  ) {
    this.unanswered = new Set(requests.map(({ id }) => id));
  }

  /** Returns what is wrong with the result, as a clause, where it cannot be answered. */
  static of({ inputRequests = {}, requestState }: Fields): InputRound | string {
    if (requestState !== undefined && typeof requestState !== 'string') return 'its `requestState` is not a string';
    if (!isObject(inputRequests)) return 'its `inputRequests` is not an object';
    const entries = Object.entries(inputRequests);
    if (entries.length === 0 && requestState === undefined) return 'names nothing that it needs';
    if (entries.length > mostRequests) return `wants more than ${mostRequests} answers at once`;
    const requests: InputRequest[] = [];
    for (const [key, request] of entries) {
      if (!isObject(request) || typeof request['method'] !== 'string')
        return 'one of its `inputRequests` has no method';
      const params = isObject(request['params']) ? request['params'] : undefined;
      requests.push({ id: `input-${nextId++}`, key, method: request['method'], params: withElicitationId(params) });
    }
    return new InputRound(requests, requestState);
  }

  answer(id: RequestId, result: unknown): void {
    const request = this.requests.find((one) => one.id === id);
    if (request && this.unanswered.delete(id)) this.answers.set(request.key, result);
  }

  /** What the request goes out with again. */
  get input(): Fields {
    return {
      ...(this.answers.size > 0 && { inputResponses: Object.fromEntries(this.answers) }),
      ...(this.state !== undefined && { requestState: this.state }),
    };
  }
}

export function withInput(params: Fields | undefined, { input }: InputRound): Record<string, unknown> {
  return { ...params, ...input };
}

/** Legacy clients want an id with every elicitation by URL. */
function withElicitationId(params: Fields | undefined): Fields | undefined {
  return params?.['mode'] === 'url' ? { elicitationId: randomUUID(), ...params } : params;
}
