/**
 * Asks the person at the terminal (S1l, S4b). Only this module decides whether a person is there. A
 * question stands on the last page of what it is about. Foreign text begins with a bar on each
 * line, so it cannot pass for the question.
 */
import { closeSync, constants, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { isatty, ReadStream, WriteStream } from 'node:tty';
import { folded } from '../core/base/folded.js';
import { bothEnds, oneLine, visibleJson, withoutHidden } from '../core/base/inert.js';
import { inNextTurn } from '../core/base/turns.js';
import type { CallAnswer, CallQuestion } from '../core/calling/permission.js';
import { isInForeground } from '../core/processes/processTable.js';
import { aloneOnTerminal, complain } from './output.js';

/** Resolves to `no` without a terminal, or if the call no longer waits. */
export async function askOnTerminal(
  question: CallQuestion,
  signal: AbortSignal,
): Promise<CallAnswer> {
  if (!isTerminal()) {
    complain(
      `No terminal is there to ask about the call of "${question.tool}". \`--allow\` with its name permits it.`,
    );
    return 'no';
  }
  const pages = (screen: Screen): string[] => callPages(question, screen);
  const answer = await answerOnTerminal(pages, 'The agent no longer waits for this call.', signal);
  return isYes(answer) ? 'once' : /^c(onversation)?$/.test(answer) ? 'inConversation' : 'no';
}

interface Agreement {
  /** The whole text to read before the answer. Foreign values in it must have one line each. */
  readonly review: string;
  /** One text for each thing that the question is about. */
  readonly about: readonly string[];
  readonly question: string;
}

/** Resolves to false without a terminal. */
export async function agreesOnTerminal(
  agreement: Agreement,
  signal: AbortSignal,
): Promise<boolean> {
  return isYes(await answerOnTerminal((screen) => agreementPages(agreement, screen), '', signal));
}

/** True if a person can be asked, wherever the standard streams lead. */
export function isTerminal(): boolean {
  const terminal = openTerminal();
  terminal?.close();
  return terminal !== undefined;
}

interface Terminal {
  readonly input: ReadStream;
  readonly output: WriteStream;
  close(): void;
}

/** Undefined for a job in the background: reading would stop it. */
function openTerminal(): Terminal | undefined {
  // A person redirects one of these more rarely than another.
  const standard = [2, 0, 1].filter((fd) => isatty(fd));
  if (process.platform === 'win32') {
    // A hidden console can be opened too, and nobody would see the question there.
    return standard.length === 0 ? undefined : terminalAt('\\\\.\\CONIN$', '\\\\.\\CONOUT$');
  }
  const own = terminalAt('/dev/tty');
  if (own && !isInForeground()) {
    own.close();
    return undefined;
  }
  // A terminal that controls another session is there too.
  return own ?? (standard[0] === undefined ? undefined : terminalAt(`/dev/fd/${standard[0]}`));
}

function terminalAt(input: string, output = input): Terminal | undefined {
  const opened: number[] = [];
  try {
    for (const file of [input, output])
      opened.push(openSync(file, constants.O_RDWR | (constants.O_NOCTTY ?? 0)));
    const [read = -1, write = -1] = opened;
    const terminal = { input: new ReadStream(read), output: new WriteStream(write) };
    const ends = Object.values(terminal);
    // The terminal can vanish between two questions.
    for (const end of ends) end.on('error', () => {});
    return { ...terminal, close: () => ends.forEach((end) => end.destroy()) };
  } catch {
    for (const fd of opened) closeSync(fd);
    return undefined;
  }
}

function isYes(answer: string): boolean {
  return /^y(es)?$/.test(answer);
}

interface Screen {
  readonly columns: number;
  readonly rows: number;
}

/** A terminal may not know its size. */
function screenOf({ columns, rows }: Screen): Screen {
  return {
    columns: Math.max(12, columns || 80),
    rows: Math.max(10, rows || 24),
  };
}

/** Stands below each page but the last. */
const more = '-- Enter shows the next page, q gives no answer: ';

/**
 * Resolves to the typed line in small letters; empty without a terminal, and if the person leaves a
 * page unread.
 */
async function answerOnTerminal(
  pagesOn: (screen: Screen) => readonly string[],
  withdrawn: string,
  signal: AbortSignal,
): Promise<string> {
  return await aloneOnTerminal(async () => {
    const terminal = openTerminal();
    if (!terminal) return '';
    const { input, output } = terminal;
    const write = (text: string): void => void output.write(withoutHidden(text));
    const pages = pagesOn(screenOf(output));
    let isAsked = false;
    let line = '';
    try {
      for (const [index, page] of pages.entries()) {
        const isLast = index === pages.length - 1;
        const ask = (): void => {
          isAsked = true;
          write(isLast ? page : `${page}\n${more}`);
        };
        line = await typedLine({
          input,
          ask,
          echo: write,
          interrupt,
          signal,
          isOneKey: !isLast,
        });
        if (!isLast && /^[qn\u0004]$/i.test(line)) return '';
      }
      if (signal.aborted && isAsked) write(`\n${withdrawn}\n`);
    } finally {
      terminal.close();
    }
    return signal.aborted ? '' : line.trim().toLowerCase();
  });
}

/** Resolves to a typed line that is not shown; empty without a terminal and if the person gives up. */
export async function hiddenOnTerminal(question: string, signal: AbortSignal): Promise<string> {
  return await aloneOnTerminal(async () => {
    const terminal = openTerminal();
    if (!terminal) return '';
    const { input, output } = terminal;
    const ask = (): void => void output.write(question);
    try {
      const echo = (): void => {};
      return await typedLine({
        input,
        ask,
        echo,
        interrupt,
        signal,
      });
    } finally {
      output.write('\n');
      terminal.close();
    }
  });
}

/** Acts as Ctrl-C at a terminal. On Windows, `kill` would end the process at once. */
function interrupt(): void {
  if (!process.emit('SIGINT', 'SIGINT')) process.kill(process.pid, 'SIGINT');
}

const bar = '  | ';

/** Pure. */
export function callPages(
  { toolset, tool, arguments: given }: CallQuestion,
  screen: Screen,
): string[] {
  const text = visibleJson(JSON.stringify(given ?? {}));
  const name = `"${oneLine(tool)}" of "${oneLine(toolset)}"`;
  const lead = `An agent wants to call ${name} with:`;
  const question = `Allow this call of ${name}? [y]es, for the [c]onversation, [N]o: `;
  const review = [lead, ...bothEnds(text, screen.columns, bar).split('\n')];
  return pagesOf(
    review,
    [...review, question],
    [lead, ...beginningOf(text, screen, 4), question],
    screen,
  );
}

/** Pure. */
export function agreementPages({ review, about, question }: Agreement, screen: Screen): string[] {
  const lines = withoutHidden(review).split('\n');
  const pieces = lines.flatMap((line) => folded(line, screen.columns));
  const most = Math.max(2, Math.min(4, Math.floor((screen.rows - 3) / about.length)));
  const last = [
    ...about.flatMap((text) => beginningOf(text, screen, most)),
    `${question} [y]es, [N]o: `,
  ];
  return pagesOf(pieces, [...pieces, ...last], last, screen);
}

/** The first lines of a text, which cannot push the question out of sight. */
function beginningOf(text: string, { columns }: Screen, most: number): string[] {
  const lines = bothEnds(oneLine(text), columns, bar).split('\n');
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), `${bar}… ${lines.length - most + 1} more lines above`];
}

/**
 * @param whole the only page, if it fits @param last otherwise the last page, behind those of the
 * review
 */
function pagesOf(
  review: readonly string[],
  whole: readonly string[],
  last: readonly string[],
  { columns, rows }: Screen,
): string[] {
  const rowsOf = (text: string): number => Math.ceil(text.length / columns) || 1;
  if (whole.reduce((sum, line) => sum + rowsOf(line), 0) <= rows) return [whole.join('\n')];
  // Our first line may take a second row of a narrow terminal.
  const height = rows - 1 - rowsOf(more);
  const pages: string[] = [];
  for (let at = 0; at < review.length; at += height)
    pages.push(review.slice(at, at + height).join('\n'));
  return [...pages, last.join('\n')];
}

/** In UTF-16 code units. */
const longestLine = 128 * 1024;

interface Asking {
  readonly input: Readable & { setRawMode(isRaw: boolean): unknown };
  /** Writes the question; called at most once. */
  readonly ask: () => void;
  readonly echo: (text: string) => void;
  readonly interrupt: () => void;
  readonly signal: AbortSignal;
  /** True if the first key is the answer. */
  readonly isOneKey?: boolean;
}

/**
 * Resolves to one line, empty at the end of the input. Raw mode lets it drop earlier input. Never
 * rejects.
 */
export function typedLine({
  input,
  ask,
  echo,
  interrupt,
  signal,
  isOneKey,
}: Asking): Promise<string> {
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
      else if (isOneKey) {
        echo('\n');
        end(key);
      } else if (key === '\r' || key === '\n' || key === '\u0004') {
        echo('\n');
        end(key === '\u0004' ? '' : line);
      } else if (key === '\u007f' || key === '\b') {
        if (line !== '') echo('\b \b');
        line = line.slice(0, -1);
      } else if (!/\p{C}/u.test(key) && line.length < longestLine) {
        line += key;
        echo(key);
      }
    };
    const take = (piece: Buffer): void => {
      isQuiet = false;
      for (const key of piece.toString()) press(key);
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
