import type { Fields } from '../../protocol/client.js';
import { errorCodes, RpcFailure } from '../../protocol/errors.js';
import type { RequestId } from '../../protocol/jsonRpc.js';

interface OpenQuestion<About> {
  readonly about: About;
  readonly settle: (answer: Fields | Error) => void;
}

/** Questions to a client by their ids. Each is settled once, and then it is open no more. */
export class OpenQuestions<About> extends Map<RequestId, OpenQuestion<About>> {
  ask(id: RequestId, about: About, signal: AbortSignal, onWithdrawn?: () => void): Promise<Fields> {
    const withdrawn = new RpcFailure(errorCodes.server, 'The question was withdrawn.');
    if (signal.aborted) return Promise.reject(withdrawn);
    return new Promise((resolve, reject) => {
      const withdraw = (): void => {
        settle(withdrawn);
        onWithdrawn?.();
      };
      const settle = (answer: Fields | Error): void => {
        if (!this.delete(id)) return;
        signal.removeEventListener('abort', withdraw);
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      };
      signal.addEventListener('abort', withdraw, { once: true });
      this.set(id, { about, settle });
    });
  }

  refuseAll(message: string): void {
    if (this.size === 0) return;
    for (const { settle } of [...this.values()]) settle(new RpcFailure(errorCodes.server, message));
  }
}

export function notAsked(message: string): Promise<never> {
  return Promise.reject(new RpcFailure(errorCodes.server, message));
}
