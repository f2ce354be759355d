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
  const answer = await answerOnTerminal(text, 'Nobody waits for this call any more.', signal);
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
  const shown = visibleJson(JSON.stringify(given ?? {}));
  const width = Math.max(8, (columns || 80) - 4);
  const barred = bothEnds(shown)
    .split('\n')
    .flatMap((line) => folded(line, width));
  const name = `"${oneLine(tool)}" of "${oneLine(toolset)}"`;
  return [
    `An agent wants to call ${name} with:`,
    ...barred.map((line) => `  | ${line}`),
    `Let ${name} be called? [y]es, [c]onversation, [N]o: `,
  ].join('\n');
}

/** Breaks a text into pieces that fit; what is not ASCII may be two columns wide. */
function folded(text: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const character of text) {
    const wide = character >= ' ' && character <= '~' ? 1 : 2;
    if (used + wide > width) {
      pieces.push(piece);
      [piece, used] = ['', 0];
    }
    piece += character;
    used += wide;
  }
  return [...pieces, piece];
}
