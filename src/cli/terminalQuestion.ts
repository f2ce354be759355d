/** Asks on the terminal (S4). Foreign text begins with a bar on each line, so it cannot pass for the question. */
import { bothEnds, oneLine, visibleJson } from '../core/base/inert.js';
import { inNextTurn } from '../core/base/turns.js';
import type { CallAnswer, CallQuestion } from '../core/host/permission.js';
import { aloneOnTerminal, complain, echo } from './output.js';

/** Resolves to `no` without a terminal, or if the call no longer waits. */
export async function askOnTerminal(question: CallQuestion, signal: AbortSignal): Promise<CallAnswer> {
  if (!isTerminal()) {
    complain(`No terminal is there to ask about the call of "${question.tool}". \`--allow\` with its name permits it.`);
    return 'no';
  }
  const text = (): string => questionText(question, process.stderr.columns);
  const answer = await answerOnTerminal(text, 'The agent no longer waits for this call.', signal);
  return isYes(answer) ? 'once' : /^c(onversation)?$/.test(answer) ? 'inConversation' : 'no';
}

/** Resolves to false without a terminal. */
export async function agreesOnTerminal(text: string, signal: AbortSignal): Promise<boolean> {
  return isYes(await answerOnTerminal(() => `${text} [y]es, [N]o: `, '', signal));
}

export function isTerminal(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY);
}

function isYes(answer: string): boolean {
  return /^y(es)?$/.test(answer);
}

/** Resolves to the typed line in small letters; empty without a terminal. */
async function answerOnTerminal(text: () => string, withdrawn: string, signal: AbortSignal): Promise<string> {
  if (!isTerminal()) return '';
  return await aloneOnTerminal(async (write) => {
    let isAsked = false;
    const ask = (): void => {
      isAsked = true;
      write(text());
    };
    const line = await typedLine({ input: process.stdin, ask, echo, interrupt, signal });
    if (signal.aborted && isAsked) write(`\n${withdrawn}\n`);
    return signal.aborted ? '' : line.trim().toLowerCase();
  });
}

/** Acts as Ctrl-C at a terminal. On Windows, `kill` would end the process at once. */
function interrupt(): void {
  if (!process.emit('SIGINT', 'SIGINT')) process.kill(process.pid, 'SIGINT');
}

/** Pure. @param columns the width of the terminal, if it is known */
export function questionText({ toolset, tool, arguments: given }: CallQuestion, columns: number | undefined): string {
  const barred = bothEnds(visibleJson(JSON.stringify(given ?? {})), Math.max(12, columns || 80), '  | ');
  const name = `"${oneLine(tool)}" of "${oneLine(toolset)}"`;
  return [
    `An agent wants to call ${name} with:`,
    barred,
    `Allow this call of ${name}? [y]es, for the [c]onversation, [N]o: `,
  ].join('\n');
}

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
  readonly signal: AbortSignal;
}

/** Resolves to one line, empty at the end of the input. Raw mode lets it drop earlier input. Never rejects. */
export function typedLine({ input, ask, echo, interrupt, signal }: Asking): Promise<string> {
  return new Promise((resolve) => {
    if (!input.readable || signal.aborted) return resolve('');
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
