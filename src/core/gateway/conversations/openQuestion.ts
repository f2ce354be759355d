/** An unanswered question to a client. Its asker may withdraw it (G4). */
import { errorCodes, RpcFailure } from '../../protocol/errors.js';

export interface OpenQuestion<Answer> {
  readonly answer: Promise<Answer>;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

export const takenBack = 'The question was withdrawn.';

/**
 * Opens a question. It is settled once.
 * @param signal aborting it withdraws and rejects the question
 * @param takeBack called on withdrawal
 */
export function openQuestion<Answer>(signal: AbortSignal, takeBack: () => void): OpenQuestion<Answer> {
  let resolve!: (answer: Answer) => void;
  let reject!: (error: Error) => void;
  const answer = new Promise<Answer>((onAnswer, onError) => {
    resolve = onAnswer;
    reject = onError;
  });
  const cancelled = (): void => {
    takeBack();
    reject(new RpcFailure(errorCodes.server, takenBack));
  };
  const settled = (): void => signal.removeEventListener('abort', cancelled);
  signal.addEventListener('abort', cancelled, { once: true });
  return {
    answer,
    resolve: (value) => {
      settled();
      resolve(value);
    },
    reject: (error) => {
      settled();
      reject(error);
    },
  };
}

export function notAsked(message: string): Promise<never> {
  return Promise.reject(new RpcFailure(errorCodes.server, message));
}
