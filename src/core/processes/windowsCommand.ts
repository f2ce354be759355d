/**
 * Finds the program for a command on Windows (X1): its full path and its arguments. It searches PATH here, because
 * Windows would look in the server's folder first, and Node starts only programs.
 *
 * A batch file has no arguments, only a line read by the shell at each mention in the file. So every argument is in
 * quotation marks, with no special meaning inside at the first reading and at later ones. npm and npx start as the
 * Node programs they are.
 */
import { statSync } from 'node:fs';
import { win32 as path } from 'node:path';
import { variable, type Environment } from './environment.js';
import { firstLineOf } from './firstLine.js';
import { spawnError } from './spawnError.js';

interface WindowsProgram {
  readonly file: string;
  readonly args: readonly string[];
  /** True if the arguments are quoted already. */
  readonly verbatim: boolean;
}

interface Where {
  readonly cwd: string;
  readonly env: Environment;
}

const programs = ['.com', '.exe'];
const batchFiles = ['.bat', '.cmd'];
const defaultExtensions = '.COM;.EXE;.BAT;.CMD';

/**
 * Throws as a spawn would: ENOENT, EACCES (a folder), ENOEXEC (not a program), EINVAL (an argument with a line break).
 */
export function windowsProgram(command: string, args: readonly string[], where: Where): WindowsProgram {
  const found = findCommand(command, where);
  const kind = path.extname(found).toLowerCase();
  if (programs.includes(kind)) return { file: found, args, verbatim: false };
  if (batchFiles.includes(kind)) return npmProgram(found, args, where) ?? batchProgram(found, args, where.env);
  const interpreter = interpreterOf(found);
  try {
    if (interpreter !== undefined) return windowsProgram(interpreter, [found, ...args], where);
  } catch {
    // The system has no such interpreter.
  }
  throw spawnError('ENOEXEC', command);
}

function findCommand(command: string, { cwd, env }: Where): string {
  const named = /[\\/]|^[a-z]:|^\.\.?$/i.test(command);
  // An entry of PATH may be in quotation marks. A relative one would mean the server's folder.
  const entries = (variable(env, 'PATH') ?? '').split(path.delimiter).map((entry) => entry.replace(/^"(.*)"$/, '$1'));
  const folders = named ? [cwd] : entries.filter((folder) => path.isAbsolute(folder));
  const extensions = (variable(env, 'PATHEXT') ?? defaultExtensions)
    .split(path.delimiter)
    .filter((extension) => [...programs, ...batchFiles].includes(extension.toLowerCase()));
  // A name without an extension is a shell script of npm's if there is a batch file beside it.
  const endings = path.extname(command) === '' ? [...extensions, ''] : ['', ...extensions];
  let folder = false;
  for (const each of folders) {
    const base = path.resolve(cwd, each, command);
    for (const ending of named || path.extname(command) !== '' ? endings : extensions) {
      const found = statSync(base + ending, { throwIfNoEntry: false });
      if (found?.isFile()) return base + ending;
      folder ||= named && found?.isDirectory() === true;
    }
  }
  throw spawnError(folder ? 'EACCES' : 'ENOENT', command);
}

/** Returns the program in a first line such as `#!/usr/bin/env node`. */
function interpreterOf(file: string): string | undefined {
  const { program = '', argument } = firstLineOf(file) ?? {};
  const name = path.basename(program);
  return (name === 'env' ? argument : name) || undefined;
}

/** npm's batch files start `node` with the file of the same name beside them. */
function npmProgram(batch: string, args: readonly string[], where: Where): WindowsProgram | undefined {
  const name = /^(npm|npx)\.cmd$/i.exec(path.basename(batch))?.[1]?.toLowerCase();
  if (name === undefined) return undefined;
  const script = path.join(path.dirname(batch), 'node_modules', 'npm', 'bin', `${name}-cli.js`);
  if (!statSync(script, { throwIfNoEntry: false })?.isFile()) return undefined;
  const beside = path.join(path.dirname(batch), 'node.exe');
  const node = statSync(beside, { throwIfNoEntry: false })?.isFile() ? beside : 'node.exe';
  return windowsProgram(node, [script, ...args], where);
}

function batchProgram(batch: string, args: readonly string[], env: Environment): WindowsProgram {
  const shell = path.join(variable(env, 'SystemRoot') ?? 'C:\\Windows', 'System32', 'cmd.exe');
  const line = [batch, ...args].map(quotedForBatch).join(' ');
  return { file: shell, args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`], verbatim: true };
}

/**
 * A quotation mark is doubled: the shell sees the end of one quotation and the start of the next, the program one
 * mark. Backslashes before a mark are doubled for the program. `%` is followed by an empty variable, so there is no
 * name between two of them.
 */
function quotedForBatch(argument: string): string {
  if (/[\r\n]/.test(argument)) throw spawnError('EINVAL', argument);
  const inside = argument.replace(/(\\*)("|$)/g, (_, backslashes: string, mark: string) => {
    return backslashes + backslashes + (mark === '' ? '' : '""');
  });
  return `"${inside.replaceAll('%', '%%cd:~,%')}"`;
}
