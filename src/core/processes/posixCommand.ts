/**
 * Finds the program that a command is where the system is not Windows (X1). A name is found here and not by the system,
 * which looks in the server's folder where an entry of PATH is empty or relative.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { variable, type Environment } from './environment.js';
import { firstLineOf, type FirstLine } from './firstLine.js';
import { spawnError } from './spawnError.js';

interface Where {
  readonly cwd: string;
  readonly env: Environment;
}

const defaultPath = '/bin:/usr/bin';

/** Returns the path of the program, which is relative to the folder it starts in where the command is. Throws as a spawn would. */
export function posixProgram(command: string, env: Environment): string {
  if (command.includes('/')) return command;
  let forbidden = false;
  for (const folder of (variable(env, 'PATH') ?? defaultPath).split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const file = join(folder, command);
    try {
      if (!statSync(file, { throwIfNoEntry: false })?.isFile()) continue;
      accessSync(file, constants.X_OK);
      return file;
    } catch (error) {
      forbidden ||= (error as NodeJS.ErrnoException).code === 'EACCES';
    }
  }
  throw spawnError(forbidden ? 'EACCES' : 'ENOENT', command);
}

/** The system says ENOENT of a file that is there if the program is not that has to run it. */
export interface Unstartable {
  readonly file: string;
  /** Undefined if it is no script. */
  readonly firstLine: FirstLine | undefined;
}

/** Returns the file that a command is, if it is there. */
export function fileOf(command: string, { cwd, env }: Where): Unstartable | undefined {
  try {
    const file = resolve(cwd, posixProgram(command, env));
    return statSync(file).isFile() ? { file, firstLine: firstLineOf(file) } : undefined;
  } catch {
    return undefined;
  }
}
