import { randomUUID } from 'node:crypto';
import { reasonOf } from '../../base/cancellation.js';
import { isObject } from '../../base/isObject.js';
import { jsonOf } from '../../base/jsonInSlices.js';
import { inNextTurn, LoopShare } from '../../base/turns.js';
import type { AskOptions, Fields } from '../../protocol/client.js';
import { errorCodes, RpcFailure, type RpcError } from '../../protocol/errors.js';
import { notificationMessage, type Message, type RequestId } from '../../protocol/jsonRpc.js';
import type { Client } from './client.js';
import { notAsked, OpenQuestions } from './openQuestions.js';

/** More than a person or a model can answer. */
const mostOpen = 256;

const notAnObject: RpcError = {
  code: errorCodes.internal,
  message: 'The client answered with a result that is not an object.',
};

/**
 * Requests of several servers to one client (G4), under new ids. Each is settled once; none
 * outlives the session.
 */
export class ClientRequests {
  private readonly open = new OpenQuestions<AskOptions['onProgress']>();
  private isClosed = false;

  readonly ask: Client['ask'] = (stream, method, params, signal, { onProgress }) => {
    if (!stream || this.isClosed) return notAsked('The client is not connected.');
    if (this.open.size >= mostOpen) return notAsked('The client has too many open questions.');
    // A person may still see a question of an earlier session. Its answer must not count for this
    // one.
    const id = `ask-${randomUUID()}`;
    let isSent = false;
    const answer = this.open.ask(id, onProgress, signal, () => {
      const params = { requestId: id, reason: reasonOf(signal) };
      if (isSent) stream.send(notificationMessage('notifications/cancelled', params));
    });
    // This turn read the request, and writing a large one takes as long again (S2).
    const send = async (): Promise<void> => {
      if (!this.open.has(id)) return;
      const asked = {
        jsonrpc: '2.0',
        id,
        method,
        params: params && withToken(params, id),
      };
      const message = await jsonOf(asked, params && LoopShare.of(params));
      if (!this.open.has(id)) return;
      isSent = true;
      stream.send(message);
    };
    inNextTurn(() => void send());
    return answer;
  };

  settle({ id, result, error = notAnObject }: Extract<Message, { kind: 'response' }>): void {
    if (id === null) return;
    const { code, message, data } = error;
    this.open.get(id)?.settle(result ?? new RpcFailure(code, message, data));
  }

  progress(params: Fields): void {
    const { progressToken } = params as { progressToken?: RequestId };
    if (progressToken !== undefined) this.open.get(progressToken)?.about?.(params);
  }

  close(): void {
    this.isClosed = true;
    this.open.refuseAll('The session of the client that was asked has ended.');
  }
}

function withToken(params: Fields, token: string): Fields {
  const meta = params['_meta'];
  if (!isObject(meta) || meta['progressToken'] === undefined) return params;
  return { ...params, _meta: { ...meta, progressToken: token } };
}
