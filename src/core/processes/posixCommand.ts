/**
 * Finds the program of a command on systems other than Windows (X1). It searches PATH here, because the system would
 * look in the server's folder if an entry of PATH is empty or relative.
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

/**
 * Returns the path of the program. If the command is relative to the start folder, so is the path. Throws as a spawn
 * would.
 */
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

/** For an existing file, ENOENT means that its interpreter or loader is missing. */
export interface Unstartable {
  readonly file: string;
  /** Undefined for a file other than a script. */
  readonly firstLine: FirstLine | undefined;
}

/** Returns the file of a command, if it exists. */
export function fileOf(command: string, { cwd, env }: Where): Unstartable | undefined {
  try {
    const file = resolve(cwd, posixProgram(command, env));
    return statSync(file).isFile() ? { file, firstLine: firstLineOf(file) } : undefined;
  } catch {
    return undefined;
  }
}
