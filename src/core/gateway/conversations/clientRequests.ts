/**
 * Sends requests of servers to the client of one session (G4). They get new ids and progress tokens, because requests
 * of several servers meet here. Invariants: a request is settled once; none is open after the session has closed.
 */
import { randomUUID } from 'node:crypto';
import type { MessageStream } from '../eventStreams.js';
import { isObject } from '../../base/isObject.js';
import { inNextTurn } from '../../base/turns.js';
import type { AskOptions, Fields } from '../../protocol/client.js';
import { errorCodes, RpcFailure, type RpcError } from '../../protocol/errors.js';
import { notificationMessage, type Message, type RequestId } from '../../protocol/jsonRpc.js';

/** More than a person or a model can answer. */
const mostOpen = 256;

const notAnObject: RpcError = {
  code: errorCodes.internal,
  message: 'The client answered with a result that is not an object.',
};

interface Open {
  readonly onProgress: AskOptions['onProgress'];
  readonly question: OpenQuestion<Fields>;
}

export class ClientRequests {
  private readonly open = new Map<RequestId, Open>();
  private isClosed = false;

  ask(
    stream: MessageStream | undefined,
    method: string,
    params: Fields | undefined,
    signal: AbortSignal,
    { onProgress }: AskOptions = {},
  ): Promise<Fields> {
    if (!stream || this.isClosed) return notAsked('The client is not connected.');
    if (this.open.size >= mostOpen) return notAsked('The client has too many open questions.');
    if (signal.aborted) return notAsked(takenBack);
    // A person may still see a question of an earlier session. Its answer must not count for this one.
    const id = `ask-${randomUUID()}`;
    let isSent = false;
    const question = openQuestion<Fields>(signal, () => {
      this.open.delete(id);
      if (isSent) stream.send(notificationMessage('notifications/cancelled', { requestId: id }));
    });
    this.open.set(id, { onProgress, question });
    // This turn read the request, and writing a large one takes as long again (S2).
    inNextTurn(() => {
      if (!this.open.has(id)) return;
      isSent = true;
      stream.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: params && withToken(params, id) }));
    });
    return question.answer;
  }

  take({ id, result, error }: Extract<Message, { kind: 'response' }>): void {
    if (id === null) return;
    const question = this.open.get(id)?.question;
    this.open.delete(id);
    const { code, message, data } = error ?? notAnObject;
    if (result) question?.resolve(result);
    else question?.reject(new RpcFailure(code, message, data));
  }

  progress(params: Fields): void {
    const { progressToken } = params as { progressToken?: RequestId };
    if (progressToken !== undefined) this.open.get(progressToken)?.onProgress?.(params);
  }

  close(): void {
    this.isClosed = true;
    for (const { question } of this.open.values()) {
      question.reject(new RpcFailure(errorCodes.server, 'The session of the client that was asked has ended.'));
    }
    this.open.clear();
  }
}

function withToken(params: Fields, token: string): Fields {
  const meta = params['_meta'];
  if (!isObject(meta) || meta['progressToken'] === undefined) return params;
  return { ...params, _meta: { ...meta, progressToken: token } };
}

export interface OpenQuestion<Answer> {
  readonly answer: Promise<Answer>;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

export const takenBack = 'The question was withdrawn.';

/** @param takeBack called when aborting the signal withdraws the question */
export function openQuestion<Answer>(signal: AbortSignal, takeBack: () => void): OpenQuestion<Answer> {
  let settle!: Pick<OpenQuestion<Answer>, 'resolve' | 'reject'>;
  const answer = new Promise<Answer>((resolve, reject) => {
    const withdraw = (): void => {
      takeBack();
      reject(new RpcFailure(errorCodes.server, takenBack));
    };
    const unheard = <Value>(by: (value: Value) => void) => {
      return (value: Value): void => {
        signal.removeEventListener('abort', withdraw);
        by(value);
      };
    };
    signal.addEventListener('abort', withdraw, { once: true });
    settle = { resolve: unheard(resolve), reject: unheard(reject) };
  });
  return { answer, ...settle };
}

export function notAsked(message: string): Promise<never> {
  return Promise.reject(new RpcFailure(errorCodes.server, message));
}
