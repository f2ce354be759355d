/**
 * Sends requests of servers to the client of one session (G4), on its streams. The answers come as POSTs. The gateway
 * makes new ids and progress tokens, because requests of several servers meet here. Invariants: a request is settled
 * once; none is open after the session has closed.
 */
import { randomUUID } from 'node:crypto';
import type { MessageStream } from '../eventStreams.js';
import { isObject } from '../../base/isObject.js';
import { inNextTurn } from '../../base/turns.js';
import type { Fields } from '../../protocol/client.js';
import { errorCodes, RpcFailure } from '../../protocol/errors.js';
import { notificationMessage, type Message, type RequestId } from '../../protocol/jsonRpc.js';
import { notAsked, openQuestion, takenBack, type OpenQuestion } from './openQuestion.js';

/** More open requests in one session are more than a person or a model can answer. */
const mostOpen = 256;

interface Open {
  readonly onProgress: ((progress: Fields) => void) | undefined;
  readonly question: OpenQuestion<Fields>;
}

export class ClientRequests {
  private readonly open = new Map<RequestId, Open>();
  private isClosed = false;

  /** @param stream undefined if the client listens nowhere */
  ask(
    stream: MessageStream | undefined,
    method: string,
    params: Fields | undefined,
    signal: AbortSignal,
    onProgress?: (progress: Fields) => void,
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
    const send = (): void => {
      if (!this.open.has(id)) return;
      isSent = true;
      const sent = params && withToken(params, id);
      stream.send(JSON.stringify({ jsonrpc: '2.0', id, method, ...(sent && { params: sent }) }));
    };
    // This turn read the request, and writing a large one takes as long again (S2).
    inNextTurn(send);
    return question.answer;
  }

  take({ id, result, error }: Extract<Message, { kind: 'response' }>): void {
    const question = id === null ? undefined : this.open.get(id)?.question;
    if (!question || id === null) return;
    this.open.delete(id);
    if (error) question.reject(new RpcFailure(error.code, error.message, error.data));
    else if (result) question.resolve(result);
    else
      question.reject(new RpcFailure(errorCodes.internal, 'The client answered with a result that is not an object.'));
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
