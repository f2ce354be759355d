/**
 * Puts requests of servers to the client of one session (G4): they go out on its streams, and its answers come as POSTs
 * of their own. The gateway gives them ids and progress tokens of its own, because those of several servers meet here.
 * Invariants: a request is settled once; none is open when the session has closed.
 */
import type { MessageStream } from './eventStreams.js';
import { isObject } from '../base/isObject.js';
import type { Fields } from '../protocol/client.js';
import { errorCodes, RpcFailure } from '../protocol/errors.js';
import { notificationMessage, type Message, type RequestId } from './jsonRpc.js';

/** This many may be open in one session, which is more than a person or a model can be asked at a time. */
const mostOpen = 256;

interface Open {
  readonly onProgress: ((progress: Fields) => void) | undefined;
  resolve(result: Fields): void;
  reject(error: Error): void;
}

export class ClientRequests {
  private readonly open = new Map<RequestId, Open>();
  private asked = 0;
  private isClosed = false;

  /** @param stream is undefined where the client listens nowhere */
  ask(
    stream: MessageStream | undefined,
    method: string,
    params: Fields | undefined,
    signal: AbortSignal,
    onProgress?: (progress: Fields) => void,
  ): Promise<Fields> {
    if (!stream || this.isClosed) return refused('The client is not there to be asked.');
    if (this.open.size >= mostOpen) return refused('The client is asked too much at once.');
    if (signal.aborted) return refused('The question was taken back.');
    const id = `ask-${(this.asked += 1)}`;
    return new Promise((resolve, reject) => {
      const cancelled = (): void => {
        if (!this.open.delete(id)) return;
        stream.send(notificationMessage('notifications/cancelled', { requestId: id }));
        reject(new RpcFailure(errorCodes.server, 'The question was taken back.'));
      };
      const settled = (): void => signal.removeEventListener('abort', cancelled);
      signal.addEventListener('abort', cancelled, { once: true });
      this.open.set(id, {
        onProgress,
        resolve: (result) => {
          settled();
          resolve(result);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      const sent = params && withToken(params, id);
      stream.send(JSON.stringify({ jsonrpc: '2.0', id, method, ...(sent && { params: sent }) }));
    });
  }

  take({ id, result, error }: Extract<Message, { kind: 'response' }>): void {
    const request = id === null ? undefined : this.open.get(id);
    if (!request || id === null) return;
    this.open.delete(id);
    if (error) request.reject(new RpcFailure(error.code, error.message, error.data));
    else if (result) request.resolve(result);
    else request.reject(new RpcFailure(errorCodes.internal, 'The client answered with a result that is no object.'));
  }

  progress(params: Fields): void {
    const { progressToken } = params as { progressToken?: RequestId };
    if (progressToken !== undefined) this.open.get(progressToken)?.onProgress?.(params);
  }

  close(): void {
    this.isClosed = true;
    for (const request of this.open.values()) {
      request.reject(new RpcFailure(errorCodes.server, 'The session of the client that was asked has ended.'));
    }
    this.open.clear();
  }
}

function refused(message: string): Promise<never> {
  return Promise.reject(new RpcFailure(errorCodes.server, message));
}

function withToken(params: Fields, token: string): Fields {
  const meta = params['_meta'];
  if (!isObject(meta) || meta['progressToken'] === undefined) return params;
  return { ...params, _meta: { ...meta, progressToken: token } };
}
