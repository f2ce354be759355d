/**
 * What servers ask the client of one session (G4): requests of ours on its streams, and its answers, which come as
 * POSTs of their own. Ids and progress tokens are ours, as those of several servers meet here.
 * Invariants: a question is settled once; none is open when the session has closed.
 */
import type { MessageStream } from './eventStreams.js';
import { isObject } from '../base/isObject.js';
import { errorCodes, notificationMessage, type Message, type Params, type RequestId } from './jsonRpc.js';

/** In one session: more than a person or a model can be asked at a time. */
const mostOpen = 256;

interface Open {
  readonly onProgress: ((progress: Params) => void) | undefined;
  resolve(result: Params): void;
  reject(error: Error): void;
}

export class ClientError extends Error {
  override readonly name = 'ClientError';

  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

export class ClientQuestions {
  private readonly open = new Map<RequestId, Open>();
  private asked = 0;
  private isClosed = false;

  /** @param stream undefined: the client listens nowhere. */
  ask(
    stream: MessageStream | undefined,
    method: string,
    params: Params | undefined,
    signal: AbortSignal,
    onProgress?: (progress: Params) => void,
  ): Promise<Params> {
    if (!stream || this.isClosed) return refused('The client is not there to be asked.');
    if (this.open.size >= mostOpen) return refused('The client is asked too much at once.');
    if (signal.aborted) return refused('The question was taken back.');
    const id = `ask-${(this.asked += 1)}`;
    return new Promise((resolve, reject) => {
      const cancelled = (): void => {
        if (!this.open.delete(id)) return;
        stream.send(notificationMessage('notifications/cancelled', { requestId: id }));
        reject(new ClientError(errorCodes.server, 'The question was taken back.'));
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
    const question = id === null ? undefined : this.open.get(id);
    if (!question || id === null) return;
    this.open.delete(id);
    if (error) question.reject(new ClientError(error.code, error.message, error.data));
    else if (result) question.resolve(result);
    else question.reject(new ClientError(errorCodes.internal, 'The client answered with a result that is no object.'));
  }

  progress(params: Params): void {
    const { progressToken } = params as { progressToken?: RequestId };
    if (progressToken !== undefined) this.open.get(progressToken)?.onProgress?.(params);
  }

  close(): void {
    this.isClosed = true;
    for (const question of this.open.values()) {
      question.reject(new ClientError(errorCodes.server, 'The session of the client that was asked has ended.'));
    }
    this.open.clear();
  }
}

function refused(message: string): Promise<never> {
  return Promise.reject(new ClientError(errorCodes.server, message));
}

function withToken(params: Params, token: string): Params {
  const meta = params['_meta'];
  if (!isObject(meta) || meta['progressToken'] === undefined) return params;
  return { ...params, _meta: { ...meta, progressToken: token } };
}
