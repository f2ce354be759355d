/** Reads the first line of a script, with the program for the script. */
import { closeSync, openSync, readSync } from 'node:fs';

export interface FirstLine {
  /** The path of the interpreter. */
  readonly program: string;
  readonly argument: string | undefined;
  /** The line ends with a carriage return, and the system takes it for a part of the path. */
  readonly isOfWindows: boolean;
}

/** Returns undefined if a file does not begin with `#!`. Throws the errors of the file system. */
export function firstLineOf(file: string): FirstLine | undefined {
  const start = Buffer.alloc(150);
  const opened = openSync(file, 'r');
  try {
    const text = start.toString('latin1', 0, readSync(opened, start, 0, start.length, 0));
    const [, program, argument, end] = /^#! *(\S+)(?: +(\S+))?[^\r\n]*(\r?)/.exec(text) ?? [];
    return program === undefined ? undefined : { program, argument, isOfWindows: end === '\r' };
  } finally {
    closeSync(opened);
  }
}
