/** Takes one line from a terminal (S4). It drops earlier input, so it uses raw mode: a line held until Enter cannot be dropped. */
import { inNextTurn } from '../core/base/turns.js';

interface TerminalInput {
  readonly readable: boolean;
  setRawMode(isRaw: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
  on(event: string, listener: (piece: unknown) => void): unknown;
  off(event: string, listener: (piece: unknown) => void): unknown;
}

interface Asking {
  readonly input: TerminalInput;
  /** Writes the question; called at most once. */
  readonly ask: () => void;
  readonly echo: (text: string) => void;
  readonly interrupt: () => void;
  /** Aborted when the question is withdrawn. */
  readonly signal: AbortSignal;
}

/** Resolves to an empty line if the input ends or the question is withdrawn. Never rejects. */
export function typedLine({ input, ask, echo, interrupt, signal }: Asking): Promise<string> {
  return new Promise((resolve) => {
    if (!input.readable || signal.aborted) {
      resolve('');
      return;
    }
    let line = '';
    let isAsked = false;
    let isQuiet = true;
    let hasEnded = false;
    const end = (answer: string): void => {
      if (hasEnded) return;
      hasEnded = true;
      input.off('data', take);
      input.setRawMode(false);
      input.pause();
      for (const event of ends) input.off(event, giveUp);
      signal.removeEventListener('abort', giveUp);
      resolve(answer);
    };
    const giveUp = (): void => end('');
    const ends = ['end', 'close', 'error'];
    const press = (key: string): void => {
      if (key === '\u0003') interrupt();
      else if (!isAsked || hasEnded) return;
      else if (key === '\r' || key === '\n' || key === '\u0004') {
        echo('\n');
        end(key === '\u0004' ? '' : line);
      } else if (key === '\u007f' || key === '\b') {
        if (line !== '') echo('\b \b');
        line = line.slice(0, -1);
      } else if (!/\p{C}/u.test(key)) {
        line += key;
        echo(key);
      }
    };
    const take = (piece: unknown): void => {
      isQuiet = false;
      for (const key of (piece as Buffer | string).toString()) press(key);
    };
    const look = (): void => {
      if (hasEnded) return;
      if (isQuiet) {
        isAsked = true;
        ask();
        return;
      }
      isQuiet = true;
      inNextTurn(look);
    };
    for (const event of ends) input.on(event, giveUp);
    signal.addEventListener('abort', giveUp);
    input.on('data', take);
    input.setRawMode(true);
    input.resume();
    inNextTurn(look);
  });
}
