/**
 * Asks on the terminal whether a tool may be called (S4). What an agent or a server says stands behind a bar on each line
 * of the screen, however narrow that is, so that nothing of it can pass for the question; and nothing else is written
 * while the question stands.
 */
import { bothEnds, oneLine, visibleJson } from '../core/base/inert.js';
import type { CallAnswer, CallQuestion } from '../core/host/permission.js';
import { aloneOnTerminal, echo } from './output.js';
import { typedLine } from './typedLine.js';

/** Where there is no terminal, or the call is no longer waited for, the answer is no. */
export async function askOnTerminal(question: CallQuestion, signal: AbortSignal): Promise<CallAnswer> {
  const text = (): string => questionText(question, process.stderr.columns);
  const answer = await answerOnTerminal(text, 'The agent no longer waits for this call.', signal);
  return isYes(answer) ? 'once' : /^c(onversation)?$/.test(answer) ? 'inConversation' : 'no';
}

/** Where there is no terminal, the answer is no. */
export async function agreesOnTerminal(text: string, signal: AbortSignal): Promise<boolean> {
  return isYes(await answerOnTerminal(() => `${text} [y]es, [N]o: `, '', signal));
}

export function isTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

function isYes(answer: string): boolean {
  return /^y(es)?$/.test(answer);
}

/** Resolves to what was typed, in small letters; empty where nobody can be asked. */
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

/** Does what the terminal does for Ctrl-C otherwise. Windows would end the process at once by a signal of its own. */
function interrupt(): void {
  if (!process.emit('SIGINT', 'SIGINT')) process.kill(process.pid, 'SIGINT');
}

/** Pure. @param columns of the terminal; it may not know them */
export function questionText({ toolset, tool, arguments: given }: CallQuestion, columns: number | undefined): string {
  const barred = bothEnds(visibleJson(JSON.stringify(given ?? {})), Math.max(12, columns || 80), '  | ');
  const name = `"${oneLine(tool)}" of "${oneLine(toolset)}"`;
  return [
    `An agent wants to call ${name} with:`,
    barred,
    `Allow this call of ${name}? [y]es, for the [c]onversation, [N]o: `,
  ].join('\n');
}
