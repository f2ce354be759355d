/**
 * Asks on the terminal whether a tool may be called (S4). What an agent or a server says stands behind a bar on each line
 * of the screen, however narrow that is, so that nothing of it can pass for the question; and nothing else is written
 * while the question stands.
 */
import { createInterface } from 'node:readline/promises';
import { bothEnds, oneLine, visibleJson } from '../core/base/inert.js';
import type { CallAnswer, CallQuestion } from '../core/host/permission.js';
import { aloneOnTerminal } from './output.js';

/** Where there is no terminal, or the call is no longer waited for, the answer is no. */
export async function askOnTerminal(question: CallQuestion, signal: AbortSignal): Promise<CallAnswer> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return 'no';
  return await aloneOnTerminal(async (write) => {
    const lines = createInterface({ input: process.stdin, terminal: false });
    try {
      write(questionText(question, process.stderr.columns));
      const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
      const answer = (await Promise.race([lines.question('', { signal }), closed])).trim().toLowerCase();
      return /^y(es)?$/.test(answer) ? 'once' : /^c(onversation)?$/.test(answer) ? 'inConversation' : 'no';
    } catch (error) {
      if (!signal.aborted) throw error;
      write('\nThe call is no longer waited for.\n');
      return 'no';
    } finally {
      lines.close();
    }
  });
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
