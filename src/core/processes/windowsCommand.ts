/**
 * Finds what Windows has to start for a command (X1): the full path of a program and its arguments. It is found here,
 * because Windows would look in the server's folder before PATH, and Node starts programs alone.
 *
 * A batch file has no arguments, only a line that the shell reads again each time the file mentions it. So every
 * argument stands in quotation marks in which nothing has a meaning, at the first reading and at each later one. npm
 * and npx are started as the Node programs that they are.
 */
import { statSync } from 'node:fs';
import { win32 as path } from 'node:path';
import { variable, type Environment } from './environment.js';
import { firstLineOf } from './firstLine.js';
import { spawnError } from './spawnError.js';

interface WindowsProgram {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are quoted already. */
  readonly verbatim: boolean;
}

interface Where {
  readonly cwd: string;
  readonly env: Environment;
}

const programs = ['.com', '.exe'];
const batchFiles = ['.bat', '.cmd'];
const defaultExtensions = '.COM;.EXE;.BAT;.CMD';

/** Throws as a spawn would: ENOENT, EACCES (a folder), ENOEXEC (no program), EINVAL (an argument that cannot be given). */
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
  // An entry of PATH may stand in quotation marks. A relative one would be looked for in the server's folder.
  const entries = (variable(env, 'PATH') ?? '').split(path.delimiter).map((entry) => entry.replace(/^"(.*)"$/, '$1'));
  const folders = named ? [cwd] : entries.filter((folder) => path.isAbsolute(folder));
  const extensions = (variable(env, 'PATHEXT') ?? defaultExtensions)
    .split(path.delimiter)
    .filter((extension) => [...programs, ...batchFiles].includes(extension.toLowerCase()));
  // A name without an extension is a shell script of npm's where a batch file stands beside it.
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

/** npm's own batch files start `node` with the file of the same name beside them. */
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
 * A quotation mark is doubled, which the shell takes for the end of one quotation and the start of the next, and the
 * program for one mark. Backslashes before a mark are doubled for the program. `%` is followed by a variable that is
 * empty, so that no name stands between two of them.
 */
function quotedForBatch(argument: string): string {
  if (/[\r\n]/.test(argument)) throw spawnError('EINVAL', argument);
  const inside = argument.replace(/(\\*)("|$)/g, (_, backslashes: string, mark: string) => {
    return backslashes + backslashes + (mark === '' ? '' : '""');
  });
  return `"${inside.replaceAll('%', '%%cd:~,%')}"`;
}
