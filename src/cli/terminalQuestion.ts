/** Asks on the terminal (S4). Foreign text begins with a bar on each line, so it cannot pass for the question. */
import { bothEnds, oneLine, visibleJson } from '../core/base/inert.js';
import type { CallAnswer, CallQuestion } from '../core/host/permission.js';
import { aloneOnTerminal, echo } from './output.js';
import { typedLine } from './typedLine.js';

/** Resolves to `no` without a terminal, or if the call no longer waits. */
export async function askOnTerminal(question: CallQuestion, signal: AbortSignal): Promise<CallAnswer> {
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
