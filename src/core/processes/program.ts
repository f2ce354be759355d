/**
 * Finds the program of a command (X1). It searches PATH here, because Windows would look in the
 * server's folder first, other systems if an entry of PATH is empty or relative, and Node starts
 * only programs.
 */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join, resolve, win32 } from 'node:path';
import { pathEntries, variable, withPathEntries, type Environment } from './environment.js';
import { readdir } from 'node:fs/promises';
import { nearest } from '../base/nearest.js';
import { unlessThrown } from '../base/unlessThrown.js';

interface Where {
  readonly cwd: string;
  readonly env: Environment;
}

const defaultPath = '/bin:/usr/bin';

/** Throws as a spawn would. The path of a command relative to the start folder is relative too. */
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

/** The system reads an interpreter for a script up to this depth. */
const mostFiles = 5;

/**
 * Returns the files that a start would run: the program of the command, and the interpreters of
 * scripts.
 */
export function programFiles(command: string, { cwd, env }: Where, most = mostFiles): string[] {
  const file = foundFile(command, { cwd, env });
  if (file === undefined) return [];
  const interpreter = most > 1 ? unlessThrown(() => interpreterIn(file)) : undefined;
  if (interpreter === undefined) return [file];
  // Unlike this module, `env` follows the relative entries of PATH.
  const entries = pathEntries(env).map((entry) => resolve(cwd, entry));
  return [
    file,
    ...programFiles(interpreter, { cwd, env: withPathEntries(env, entries) }, most - 1),
  ];
}

function foundFile(command: string, where: Where): string | undefined {
  const isWindows = process.platform === 'win32';
  return unlessThrown(() =>
    isWindows ? findCommand(command, where) : resolve(where.cwd, posixProgram(command, where.env)),
  );
}

/** `env` looks its program up. On Windows, the batch files of npm's packages start `node`. */
function interpreterIn(file: string): string | undefined {
  if (process.platform === 'win32') {
    const kind = win32.extname(file).toLowerCase();
    if (batchFiles.includes(kind)) return 'node';
    return programs.includes(kind) ? undefined : interpreterOf(file);
  }
  // Reading a pipe would wait for its writer.
  const line = statSync(file).isFile() ? firstLineOf(file) : undefined;
  return line && basename(line.program) === 'env'
    ? line.words.find((word) => !/^-|=/.test(word))
    : line?.program;
}

/** For an existing file, ENOENT means that its interpreter or loader is missing. */
export interface Unstartable {
  readonly file: string;
  readonly firstLine: FirstLine | undefined;
}

export function fileOf(command: string, { cwd, env }: Where): Unstartable | undefined {
  return unlessThrown(() => {
    const file = resolve(cwd, posixProgram(command, env));
    return statSync(file).isFile() ? { file, firstLine: firstLineOf(file) } : undefined;
  });
}

interface WindowsProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly verbatim: boolean;
}

const programs = ['.com', '.exe'];
const batchFiles = ['.bat', '.cmd'];
const defaultExtensions = '.COM;.EXE;.BAT;.CMD';

/**
 * Throws as a spawn would: ENOENT, EACCES (a folder), ENOEXEC (not a program), EINVAL (a line
 * break).
 */
export function windowsProgram(
  command: string,
  args: readonly string[],
  where: Where,
): WindowsProgram {
  const found = findCommand(command, where);
  const kind = win32.extname(found).toLowerCase();
  if (programs.includes(kind))
    return {
      file: found,
      args,
      verbatim: false,
    };
  if (batchFiles.includes(kind))
    return npmProgram(found, args, where) ?? batchProgram(found, args, where.env);
  const interpreter = interpreterOf(found);
  // The system may have no such interpreter.
  const script = unlessThrown(
    () => interpreter && windowsProgram(interpreter, [found, ...args], where),
  );
  if (script) return script;
  throw spawnError('ENOEXEC', command);
}

function findCommand(command: string, { cwd, env }: Where): string {
  const named = /[\\/]|^[a-z]:|^\.\.?$/i.test(command);
  // A relative entry of PATH would mean the server's folder.
  const folders = named ? [cwd] : pathEntries(env).filter((folder) => win32.isAbsolute(folder));
  const extensions = (variable(env, 'PATHEXT') ?? defaultExtensions)
    .split(win32.delimiter)
    .filter((extension) => [...programs, ...batchFiles].includes(extension.toLowerCase()));
  // A name without an extension is a shell script of npm's if there is a batch file beside it.
  const endings = win32.extname(command) === '' ? [...extensions, ''] : ['', ...extensions];
  let folder = false;
  for (const each of folders) {
    const base = win32.resolve(cwd, each, command);
    for (const ending of named || win32.extname(command) !== '' ? endings : extensions) {
      const found = statSync(base + ending, { throwIfNoEntry: false });
      if (found?.isFile()) return base + ending;
      folder ||= named && found?.isDirectory() === true;
    }
  }
  throw spawnError(folder ? 'EACCES' : 'ENOENT', command);
}

function interpreterOf(file: string): string | undefined {
  const { program = '', words = [] } = firstLineOf(file) ?? {};
  const name = win32.basename(program);
  return (name === 'env' ? words[0] : name) || undefined;
}

/** npm's batch files start `node` with the file of the same name beside them. */
function npmProgram(
  batch: string,
  args: readonly string[],
  where: Where,
): WindowsProgram | undefined {
  const name = /^(npm|npx)\.cmd$/i.exec(win32.basename(batch))?.[1]?.toLowerCase();
  if (name === undefined) return undefined;
  const script = win32.join(win32.dirname(batch), 'node_modules', 'npm', 'bin', `${name}-cli.js`);
  if (!statSync(script, { throwIfNoEntry: false })?.isFile()) return undefined;
  const beside = win32.join(win32.dirname(batch), 'node.exe');
  const node = statSync(beside, { throwIfNoEntry: false })?.isFile() ? beside : 'node.exe';
  return windowsProgram(node, [script, ...args], where);
}

function batchProgram(batch: string, args: readonly string[], env: Environment): WindowsProgram {
  const shell = win32.join(variable(env, 'SystemRoot') ?? 'C:\\Windows', 'System32', 'cmd.exe');
  const line = [batch, ...args].map(quotedForBatch).join(' ');
  return {
    file: shell,
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
    verbatim: true,
  };
}

/**
 * A batch file has no arguments, only a line read by the shell at each mention in the file. So
 * every argument is in quotation marks, with no special meaning inside. A quotation mark is
 * doubled: the shell sees the end of one quotation and the start of the next, the program one mark.
 * Backslashes before a mark are doubled for the program. `%` is followed by an empty variable, so
 * two of them enclose no name.
 */
function quotedForBatch(argument: string): string {
  if (/[\r\n]/.test(argument)) throw spawnError('EINVAL', argument);
  const inside = argument.replace(/(?<!\\)(\\*)("|$)/g, (_, backslashes: string, mark: string) => {
    return backslashes + backslashes + (mark === '' ? '' : '""');
  });
  return `"${inside.replaceAll('%', '%%cd:~,%')}"`;
}

interface FirstLine {
  readonly program: string;
  readonly words: readonly string[];
  /** The line ends with a carriage return, and the system takes it for a part of the path. */
  readonly isOfWindows: boolean;
}

/** Returns undefined if a file does not begin with `#!`. Throws the errors of the file system. */
function firstLineOf(file: string): FirstLine | undefined {
  const start = Buffer.alloc(256);
  const opened = openSync(file, 'r');
  try {
    const text = start.toString('latin1', 0, readSync(opened, start, 0, start.length, 0));
    const [, program, rest = '', end] = /^#![ \t]*(\S+)([^\r\n]*)(\r?)/.exec(text) ?? [];
    const words = rest.split(/[ \t]+/).filter((word) => word !== '');
    return program === undefined
      ? undefined
      : {
          program,
          words,
          isOfWindows: end === '\r',
        };
  } finally {
    closeSync(opened);
  }
}

function spawnError(code: string, command: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`spawn ${command} ${code}`), { code });
}

const windowsExtension = /\.(exe|cmd|bat|com|ps1)$/i;
const mostFolders = 200;

export interface PathSearch {
  readonly folders: number;
  readonly nearest: string | undefined;
}

/** Distinguishes a typing error from a missing program. It only reads folders. */
export async function searchPath(command: string, env: Environment): Promise<PathSearch> {
  const folders = [...new Set(pathEntries(env).filter((folder) => folder !== ''))].slice(
    0,
    mostFolders,
  );
  const listings = await Promise.all(
    folders.map((folder) => readdir(folder).catch((): string[] => [])),
  );
  const names = new Set(listings.flat().map((name) => name.replace(windowsExtension, '')));
  const wanted = command.replace(windowsExtension, '');
  names.delete(wanted);
  return { folders: folders.length, nearest: nearestName(wanted, names) };
}

/** A short name may have one slip and a long one two; a swap of neighbours counts as one. */
export function nearestName(wanted: string, names: Iterable<string>): string | undefined {
  return nearest(wanted, names, wanted.length <= 4 ? 1 : 2);
}
