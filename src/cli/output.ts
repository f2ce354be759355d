/**
 * Writes the output of the command line. Functions return the exit code that goes with it: 0, 1, or
 * 2 for a wrong command line.
 */
import { withoutHidden, oneLine, visibleJson } from '../core/base/inert.js';
import type { Problem } from '../core/base/problem.js';
import { withoutSecrets } from '../core/base/secrets.js';
import { fileError } from '../core/base/systemError.js';
import { messageOf } from '../core/base/text.js';
import { inOrder, problemLine } from './render.js';

let held: (() => void)[] | undefined;

function put(stream: NodeJS.WriteStream, text: string | Uint8Array): void {
  if (held && stream.isTTY) held.push(() => stream.write(text));
  else stream.write(text);
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Holds all other output to the terminal until `ask` has its answer. Questions wait for one
 * another.
 */
export function aloneOnTerminal<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const answer = last.then(async () => {
    const waiting: (() => void)[] = [];
    held = waiting;
    try {
      return await ask();
    } finally {
      held = undefined;
      for (const write of waiting) write();
    }
  });
  last = answer.catch(() => undefined);
  return answer;
}

export function print(text: string): 0 {
  put(process.stdout, `${withoutHidden(text)}\n`);
  return 0;
}

/**
 * Writes a requested text: unchanged to a file or a pipe, and without control characters to a
 * terminal.
 */
export function printContent(text: string): 0 {
  put(process.stdout, `${process.stdout.isTTY ? withoutHidden(text) : text}\n`);
  return 0;
}

export function passLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes bytes to a file or a pipe. A terminal could interpret them. */
export function printBytes(bytes: Uint8Array): number {
  if (process.stdout.isTTY) {
    const why = `This is not text (${bytes.length} bytes), so it is not written to the terminal.`;
    return complain(`${why} Send it to a file.`);
  }
  put(process.stdout, bytes);
  return 0;
}

/** Writes one line. Line breaks of a foreign text cannot begin another. */
export function complain(text: string): 1 {
  put(process.stderr, `${oneLine(text)}\n`);
  return 1;
}

export function reasonOf(error: unknown): string {
  return messageOf(error).replace(/\.$/, '');
}

/** An error of the file system is no defect: it gets a sentence and no stack. */
export function complainOfDefect(error: unknown): number {
  const ofFile = fileError(error);
  if (ofFile !== undefined) return complain(`A file cannot be used: ${ofFile}.`);
  complainLines(
    withoutSecrets(error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error)),
  );
  return 70;
}

/** Writes several lines of ours. Foreign values in it must have one line each. */
export function complainLines(text: string): 1 {
  put(process.stderr, `${withoutHidden(text)}\n`);
  return 1;
}

export function echo(text: string): void {
  process.stderr.write(text);
}

/** The second line of a wrong command line names its help; `main` writes it. */
export function misuse(text: string): 2 {
  complain(text);
  return 2;
}

/**
 * Writes only lines that were not in the last list. @param subjectOf returns the same text for
 * lines of the same news
 */
export function newLines(
  write: (line: string) => void,
  subjectOf = (line: string): string => line,
) {
  let last: readonly string[] = [];
  return (lines: readonly string[]): void => {
    const subjects = lines.map(subjectOf);
    for (const [index, line] of lines.entries())
      if (!last.includes(subjects[index] ?? '')) write(line);
    last = subjects;
  };
}

export function toJson(value: unknown): string {
  return visibleJson(JSON.stringify(value, null, 2));
}

export function complainOf(problems: readonly Problem[]): void {
  for (const problem of problems) complain(problemLine(problem));
}

export function report(json: boolean, problems: readonly Problem[]): number {
  if (json) print(toJson(inOrder(problems)));
  else if (problems.length === 0) print('No problems.');
  else for (const problem of inOrder(problems)) print(problemLine(problem));
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0;
}
